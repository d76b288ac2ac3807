"""What people do in Teams, and what they see. What the bot is to hear of it is sent by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.doubles.teams.core import Core
from tests.doubles.teams.errors import CannotAct, Json
from tests.doubles.teams.seen import Seen, seen
from tests.doubles.teams.things import Conversation, Message


class People(Core):
    """Acts are named as in `teams.say(conversation, person, text)`; ids, not objects, go in and out: of
    people those of the directory (`Person.aad`)."""

    @property
    def at_bot(self) -> str:
        """To be put into texts that mention the bot; `<@aad>` mentions a person."""
        return "<@bot>"

    # -- saying --------------------------------------------------------------------------------

    def say(
        self,
        conversation: str,
        person: str,
        text: str,
        *,
        thread: str | None = None,
        files: Sequence[str] = (),
        pasted: Sequence[str] = (),
        reply_to: str | None = None,
    ) -> str:
        """A person's message; in a channel a new post, or a reply in `thread` (its root's id). `files` and
        (pictures) `pasted` are ids of `World.add_file`. Gives the message's id."""
        place = self._place(conversation, person)
        if thread is not None and (not place.channel or place.messages[thread].root != thread):
            raise CannotAct("there is no such thread")
        marked, entities = self.payloads.marked(text)
        message = self._new(place, person, marked, thread)
        message.entities, message.files, message.reply_to = entities, list(files), reply_to
        message.pasted = list(pasted)
        for id in files:
            file = self.world.files[id]
            file.tenant = place.tenant
            file.url = file.url or f"https://contoso.sharepoint.example/sites/files/{file.id}/{file.name}"
        self._tell(place, message)
        return message.id

    def ask(self, person: str, text: str, *, files: Sequence[str] = (), pasted: Sequence[str] = ()) -> str:
        """A message in the personal chat with the bot."""
        place = self.world.personal(person).id
        return self.say(place, person, text, files=files, pasted=pasted)

    def say_as_other_bot(self, conversation: str, text: str, *, thread: str | None = None) -> str:
        """Another app's message. Bots hear nothing of other bots."""
        place = self.world.conversations[conversation]
        return self._new(place, "28:other-app", text, thread).id

    def _new(
        self, place: Conversation, sender: str | None, text: str, thread: str | None = None
    ) -> Message:
        now = self.clock.now()
        message = Message(self.world.new_id(), place.id, sender, text, created=now, versions=[text])
        if place.channel:
            message.root = thread or message.id
        place.messages[message.id] = message
        return message

    def _tell(self, place: Conversation, message: Message, kind: str = "message", **more: object) -> None:
        if self.hears(place, message):
            activity: Json = self.payloads.message(place, message) | {"type": kind}
            activity["channelData"] |= more
            self.outbox.add(activity)

    def _place(self, conversation: str, person: str) -> Conversation:
        place = self.world.conversations[conversation]
        if person not in self.world.members(place):
            raise CannotAct(f"{self.world.people[person].name} is not there")
        return place

    # -- changing ------------------------------------------------------------------------------

    def edit(self, conversation: str, id: str, text: str) -> None:
        place, message = self._mine(conversation, id)
        heard = self.hears(place, message)
        message.text, message.entities = self.payloads.marked(text)
        message.versions.append(message.text)
        message.edited = self.clock.now()
        if heard or self.hears(place, message):
            activity: Json = self.payloads.message(place, message) | {"type": "messageUpdate"}
            activity["channelData"] |= {"eventType": "editMessage"}
            self.outbox.add(activity)

    def delete(self, conversation: str, id: str) -> None:
        place, message = self._mine(conversation, id)
        message.deleted = self.clock.now()
        self._deleted(place, message, "messageDelete", "softDeleteMessage")

    def undelete(self, conversation: str, id: str) -> None:
        place, message = self._mine(conversation, id, deleted=True)
        message.deleted = None
        self._tell(place, message, "messageUpdate", eventType="undeleteMessage")

    def remove(self, conversation: str, id: str) -> None:
        """An owner, or Teams itself, takes a message of the bot away; the bot is not told."""
        self.world.conversations[conversation].messages[id].deleted = self.clock.now()

    def _deleted(self, place: Conversation, message: Message, kind: str, event: str) -> None:
        if not self.hears(place, message):
            return
        activity: Json = self.payloads.message(place, message) | {"type": kind}
        for gone in ("text", "textFormat", "attachments"):
            del activity[gone]
        activity["channelData"] |= {"eventType": event}
        self.outbox.add(activity)

    def _mine(self, conversation: str, id: str, *, deleted: bool = False) -> tuple[Conversation, Message]:
        place = self.world.conversations[conversation]
        message = place.messages[id]
        if message.sender not in self.world.people or (message.deleted is not None) != deleted:
            raise CannotAct("that message can't be changed")
        return place, message

    # -- seeing --------------------------------------------------------------------------------

    def shown(self, conversation: str, thread: str | None = None, *, bot: bool | None = None) -> list[Seen]:
        """The messages there in order, without deleted ones and Teams' own lines.

        Args:
            bot: True: those of the bot only; False: all others.
        """
        place = self.world.conversations[conversation]
        found = [
            seen(self, place, one)
            for one in self.world.thread(place, thread)
            if one.deleted is None and one.sender and not (one.final is False and not one.text)
        ]
        return [one for one in found if bot is None or one.by_bot == bot]

    def informed(self, conversation: str) -> str | None:
        """The line of an open stream that has no text yet."""
        stream = self.connector.streams.open_in(self.world.conversations[conversation])
        return stream.line if stream is not None and stream.phase == "informative" else None

    def answers(self, conversation: str, thread: str | None = None) -> list[Seen]:
        """The bot's messages."""
        return self.shown(conversation, thread, bot=True)

    def stop(self, conversation: str) -> str:
        """Press stop while an answer is streamed."""
        return self.connector.streams.stop(self.world.conversations[conversation])

    # -- installing ----------------------------------------------------------------------------

    def install(self, conversation: str, person: str, *, upgrade: bool = False) -> None:
        """Add the bot to a chat or a team (any of its channels): Teams tells it twice."""
        place = self.world.conversations[conversation]
        self._installed(place, True)
        action = "add-upgrade" if upgrade else "add"
        self.outbox.add(self._of("installationUpdate", place, person, action=action))
        if not upgrade:
            added: Json = {"membersAdded": [self.payloads.bot()]}
            self.outbox.add(self._of("conversationUpdate", place, person, **added))

    def uninstall(self, conversation: str, person: str) -> None:
        place = self.world.conversations[conversation]
        removed: Json = {"membersRemoved": [self.payloads.bot()]}
        self.outbox.add(self._of("installationUpdate", place, person, action="remove"))
        self.outbox.add(self._of("conversationUpdate", place, person, **removed))
        self._installed(place, False)

    def join(self, conversation: str, person: str) -> None:
        """A person is added to a group chat or to a team."""
        place = self.world.conversations[conversation]
        if place.team is not None and place.channel_kind == "standard":
            self.world.teams[place.team].members[person] = "member"
        else:
            place.members.append(person)
            self._new(place, None, f"{self.world.people[person].name} joined")
        if self.world.installed(place):
            account = self.payloads.account(self.world.people[person])
            self.outbox.add(self._of("conversationUpdate", place, person, membersAdded=[account]))

    def _of(self, kind: str, place: Conversation, person: str, **more: Any) -> Json:
        return self.payloads.activity(kind, place, self.world.people[person], **more)

    def _installed(self, place: Conversation, there: bool) -> None:
        if place.team is not None and place.channel_kind == "standard":
            self.world.teams[place.team].installed = there
        else:
            place.installed = there
