"""Who may read what. Pure functions; whatever is unknown narrows."""

from __future__ import annotations

from adapters.conversation import Conversation, Person
from adapters.ports import Actor, AudienceChoice, Refused
from retrieval.documents import EVERYONE, SHAREABLE, channel_audience, person_audience


def person_key(actor: Actor | tuple[Conversation, Person]) -> str:
    """The person's id across platforms, e.g. "slack:T1:U7"."""
    conversation, person = (actor.conversation, actor.person) if isinstance(actor, Actor) else actor
    return f"{conversation.platform}:{conversation.tenant}:{person.id}"


def channel_key(conversation: Conversation) -> str:
    return channel_audience(conversation.platform, conversation.tenant, conversation.id)


def reply_audience(conversation: Conversation, asker: Person, *, private: bool) -> frozenset[str]:
    """The audience keys that **every** reader of the reply holds.

    A reply that only the asker sees may use what the asker may read; one in a channel only what all
    its members may read, and in a channel shared with another organisation only what is marked as
    shareable or belongs to that channel.
    """
    keys = {SHAREABLE}
    if conversation.kind != "direct":
        keys.add(channel_key(conversation))
    if private or conversation.kind == "direct":
        keys.add(person_audience(person_key((conversation, asker))))
    if conversation.kind != "shared_channel" and not asker.is_guest:
        keys.add(EVERYONE)
    return frozenset(keys)


def document_audience(actor: Actor, choice: AudienceChoice) -> tuple[str, ...]:
    """The audience keys of a document that the actor uploads."""
    match choice:
        case "everyone":
            if actor.person.is_guest:
                raise Refused("Guests can add documents for this channel or for themselves only.")
            return (EVERYONE,)
        case "shareable":
            if actor.person.is_guest:
                raise Refused("Guests can add documents for this channel or for themselves only.")
            return (EVERYONE, SHAREABLE)
        case "channel":
            if actor.conversation.kind == "direct":
                raise Refused("There is no channel here. Choose “everyone” or “only me”.")
            return (channel_key(actor.conversation),)
        case "person":
            return (person_audience(person_key(actor)),)


def may_edit(actor: Actor, uploader: str | None) -> bool:
    """Only the uploader and admins may change or delete a document."""
    return actor.person.is_admin or (uploader is not None and uploader == person_key(actor))


def may_read(audience: tuple[str, ...], keys: frozenset[str]) -> bool:
    return not keys.isdisjoint(audience)
