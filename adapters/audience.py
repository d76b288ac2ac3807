"""Who will read a document that comes from a platform. Pure; whatever is unknown narrows."""

from __future__ import annotations

from typing import Final

from adapters.conversation import Conversation, Person
from adapters.ports import AudienceChoice

LABELS: Final[dict[AudienceChoice, str]] = {
    "everyone": "Everyone here",
    "channel": "This channel",
    "person": "Only me",
    "shareable": "Everyone here, and guests",
}


def choices(conversation: Conversation, person: Person) -> tuple[AudienceChoice, ...]:
    """What fits: there is no channel in a direct message, and guests don't write for everyone."""
    fit: list[AudienceChoice] = [] if person.is_guest else ["everyone"]
    if conversation.kind != "direct":
        fit.append("channel")
    return (*fit, "person")


def fitting(conversation: Conversation, person: Person) -> AudienceChoice:
    """Where nobody has chosen: who can read the place that it comes from."""
    if conversation.kind == "direct":
        return "person"
    return "everyone" if conversation.kind == "public_channel" and not person.is_guest else "channel"


def told(audience: AudienceChoice, conversation: Conversation) -> str:
    """A sentence for the one who adds a document."""
    match audience:
        case "everyone":
            return "Everyone in this workspace can ask about it."
        case "shareable":
            return "Everyone in this workspace, and guests, can ask about it."
        case "channel":
            where = f"#{conversation.name}" if conversation.name else "that conversation"
            return f"Only the people in {where} can ask about it."
        case "person":
            return "Only you can ask about it."
