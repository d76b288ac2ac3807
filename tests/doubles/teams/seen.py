"""What people see of a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from tests.doubles.teams.check_activity import ADAPTIVE
from tests.doubles.teams.check_entities import MESSAGE
from tests.doubles.teams.errors import Json
from tests.doubles.teams.things import Conversation, Message

if TYPE_CHECKING:
    from tests.doubles.teams.core import Core

_WORDS = ("text", "title", "label", "value", "placeholder", "altText", "errorMessage")


@dataclass(frozen=True, slots=True)
class Seen:
    """A message as it stands there. `text` has no words of cards; `words` has all."""

    id: str
    sender: str | None
    text: str
    root: str | None
    by_bot: bool
    entities: list[Json]
    attachments: list[Json]
    edits: int
    #: None: never streamed; False: a stream that its bot has not ended.
    final: bool | None
    reply_to: str | None
    message: Message

    @property
    def cards(self) -> list[Json]:
        return [one["content"] for one in self.attachments if one.get("contentType") == ADAPTIVE]

    @property
    def words(self) -> str:
        return "\n".join([self.text, *map(words, self.cards)]).strip()

    @property
    def label(self) -> Json:
        """The root entity of the message; empty where there is none."""
        return next((one for one in self.entities if one.get("type") == MESSAGE), {})

    @property
    def generated(self) -> bool:
        """The label "AI generated" stands there."""
        return "AIGeneratedContent" in self.label.get("additionalType", [])

    @property
    def citations(self) -> dict[int, Json]:
        """What each mark shows, by its number."""
        return {one["position"]: one["appearance"] for one in self.label.get("citation", [])}

    @property
    def asks_feedback(self) -> bool:
        data: Json = self.message.activity.get("channelData") or {}
        return bool(data.get("feedbackLoop") or data.get("feedbackLoopEnabled"))

    @property
    def suggestions(self) -> list[str]:
        suggested: Json = self.message.activity.get("suggestedActions") or {}
        return [one["value"] for one in suggested.get("actions", [])]


def words(value: Any) -> str:
    """All text of a card, in reading order: what is hidden too, and no data of buttons."""
    if isinstance(value, list):
        return "\n".join(part for item in value if (part := words(item)))
    if not isinstance(value, dict):
        return ""
    parts: list[str] = []
    for key, item in value.items():
        if (
            key in _WORDS
            and isinstance(item, str)
            and not (key == "value" and value.get("type") == "Input.Toggle")
        ):
            parts.append(item)
        elif key not in ("data", "msteams", "fallback", "choices") and isinstance(item, dict | list):
            parts.append(words(item))
        elif key == "choices" and isinstance(item, list):
            parts += [choice.get("title", "") for choice in cast("list[Json]", item)]
    return "\n".join(part for part in parts if part)


def seen(core: Core, place: Conversation, message: Message) -> Seen:
    return Seen(
        message.id,
        message.sender,
        message.text,
        message.root,
        message.sender == core.app.bot,
        message.entities,
        message.attachments,
        message.edits,
        message.final,
        message.reply_to,
        message,
    )
