"""Activities of the Bot Framework as values: what was said, by whom, where. The rest is told by name."""

from __future__ import annotations

import html
import re
from datetime import datetime
from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from adapters.conversation import ConversationKind
from adapters.teams.reference import Reference

_AT: Final = re.compile(r"<at(?:\s[^>]*)?>(.*?)</at>", re.IGNORECASE | re.DOTALL)
_SPACE: Final = re.compile(r"[ \t\u00a0]+")
_KINDS: Final[dict[str, ConversationKind]] = {"personal": "direct", "groupChat": "group"}
_CARD: Final = "application/vnd.microsoft.card."


class Who(BaseModel):
    """The one who acted. `user` is the id in the conversation ("29:…"), `aad` that in the directory."""

    model_config = ConfigDict(frozen=True)

    user: str
    aad: str = ""
    name: str = ""
    #: "user", "bot" or empty.
    role: str = ""


class Said(BaseModel):
    """A message that a person, or another bot, wrote, or an answer that they clicked."""

    model_config = ConfigDict(frozen=True)

    reference: Reference
    id: str
    who: Who
    #: With names for mentions, without the bot's own.
    text: str = ""
    #: The bot was mentioned.
    mentioned: bool = False
    #: Files, as the activity's attachments have them: no cards, no HTML copies of the text.
    files: tuple[dict[str, Any], ...] = ()
    #: What a card's button or input has sent (`Action.Submit`); None for a typed message.
    value: dict[str, Any] | None = None
    reply_to: str | None = None
    locale: str | None = None
    at: datetime | None = None

    @property
    def name(self) -> str:
        """What the message is known by, over resends."""
        return f"{self.reference.tenant}:{self.reference.channel}:{self.id}"

    @property
    def by_bot(self) -> bool:
        return self.who.role == "bot" or self.who.user.startswith("28:")

    @property
    def addressed(self) -> bool:
        """Meant for the bot, whatever the workspace's settings say."""
        return self.mentioned or self.reference.direct or self.value is not None


class Edited(BaseModel):
    """A person changed a message."""

    model_config = ConfigDict(frozen=True)

    message: Said


class Deleted(BaseModel):
    """A message was deleted."""

    model_config = ConfigDict(frozen=True)

    reference: Reference
    id: str

    @property
    def name(self) -> str:
        return f"{self.reference.tenant}:{self.reference.channel}:{self.id}"


class Joined(BaseModel):
    """The bot was installed, or added to a conversation, by `who`."""

    model_config = ConfigDict(frozen=True)

    reference: Reference
    who: Who


class Invoked(BaseModel):
    """Something that waits for an answer: a dialog, a thumb, a message action."""

    model_config = ConfigDict(frozen=True)

    reference: Reference
    who: Who
    id: str
    name: str
    value: dict[str, Any]
    reply_to: str | None = None


class Ignored(BaseModel):
    """Nothing that the bot acts on."""

    model_config = ConfigDict(frozen=True)

    why: str


Event = Said | Edited | Deleted | Joined | Invoked | Ignored


class NoActivity(ValueError):
    """The body is no activity of Teams."""


def read_activity(body: Any) -> Event:
    """Raises `NoActivity` for what is none."""
    try:
        activity = _object(body)
        reference, kind = reference_of(activity), activity["type"]
        match kind:
            case "message":
                return _said(activity, reference)
            case "messageUpdate":
                if _object(activity.get("channelData")).get("eventType") == "undeleteMessage":
                    return Ignored(why="undeleted")
                return Edited(message=_said(activity, reference))
            case "messageDelete":
                return Deleted(reference=reference, id=_text(activity, "id"))
            case "installationUpdate":
                if str(activity.get("action") or "").startswith("add"):
                    return Joined(reference=reference, who=_who(activity))
                return Ignored(why="removed")
            case "conversationUpdate":
                added = cast("list[Any]", activity.get("membersAdded") or [])
                if any(_object(member).get("id") == reference.bot for member in added):
                    return Joined(reference=reference, who=_who(activity))
                return Ignored(why="conversationUpdate")
            case "invoke":
                return Invoked(
                    reference=reference,
                    who=_who(activity),
                    id=_text(activity, "id"),
                    name=_text(activity, "name"),
                    value=_object(activity.get("value")),
                    reply_to=activity.get("replyToId"),
                )
            case _:
                return Ignored(why=str(kind)[:40])
    except (ValidationError, KeyError, TypeError, ValueError) as error:
        raise NoActivity("that is no activity of Teams") from error


def reference_of(activity: dict[str, Any]) -> Reference:
    """Raises `KeyError` or `ValidationError` where the activity does not say where it happened."""
    conversation, data = _object(activity["conversation"]), _object(activity.get("channelData"))
    team, channel = _object(data.get("team")), _object(data.get("channel"))
    name = str(conversation["id"])
    kind = _KINDS.get(str(conversation.get("conversationType") or ""))
    if kind is None:
        # Also a standard channel is read by the team's members only.
        kind = "shared_channel" if channel.get("type") == "shared" else "private_channel"
        if not channel and conversation.get("isGroup") is not True and "@thread" not in name:
            kind = "direct"
    recipient = _object(activity.get("recipient"))
    reference = Reference(
        service_url=activity["serviceUrl"],
        tenant=str(_object(data.get("tenant")).get("id") or conversation.get("tenantId") or ""),
        conversation=name,
        kind=kind,
        bot=recipient.get("id") or "",
        bot_name=recipient.get("name") or "",
        team=team.get("id") or data.get("teamsTeamId"),
        team_group=team.get("aadGroupId"),
        name=str(channel.get("name") or conversation.get("name") or ""),
    )
    if not reference.tenant or not reference.bot or not reference.service_url:
        raise KeyError("tenant, recipient or serviceUrl")
    channel_kind = reference.kind in ("private_channel", "shared_channel")
    about_message = str(activity.get("type") or "").startswith("message")
    if channel_kind and reference.root is None and about_message and activity.get("id"):
        # A post that opens a thread may be told without the thread's suffix.
        return reference.in_thread(str(activity["id"]))
    return reference


def readable(text: str, bot: str, entities: list[Any]) -> str:
    """With names for mentions, without the bot's own; what HTML escapes is turned back."""
    own: set[str] = set()
    for entity in map(_object, entities):
        if entity.get("type") == "mention" and _object(entity.get("mentioned")).get("id") == bot:
            own.add(str(entity.get("text") or ""))

    def name(match: re.Match[str]) -> str:
        return " " if match.group(0) in own else f"@{match.group(1).strip()}"

    words = html.unescape(_AT.sub(name, text))
    lines = [_SPACE.sub(" ", line).strip() for line in words.replace("\r\n", "\n").split("\n")]
    return "\n".join(lines).strip()


def _said(activity: dict[str, Any], reference: Reference) -> Said:
    entities = cast("list[Any]", activity.get("entities") or [])
    mentioned = any(
        entity.get("type") == "mention" and _object(entity.get("mentioned")).get("id") == reference.bot
        for entity in map(_object, entities)
    )
    attachments = map(_object, cast("list[Any]", activity.get("attachments") or []))
    value = activity.get("value")
    return Said(
        reference=reference,
        id=_text(activity, "id"),
        who=_who(activity),
        text=readable(str(activity.get("text") or ""), reference.bot, entities),
        mentioned=mentioned,
        files=tuple(file for file in attachments if _is_file(file)),
        value=cast("dict[str, Any]", value) if isinstance(value, dict) else None,
        reply_to=activity.get("replyToId"),
        locale=activity.get("locale"),
        at=activity.get("timestamp"),
    )


def _is_file(attachment: dict[str, Any]) -> bool:
    kind = str(attachment.get("contentType") or "")
    return bool(kind) and kind != "text/html" and not kind.startswith(_CARD) and kind != "messageReference"


def _who(activity: dict[str, Any]) -> Who:
    sender = _object(activity["from"])
    return Who(
        user=_text(sender, "id"),
        aad=sender.get("aadObjectId") or "",
        name=sender.get("name") or "",
        role=sender.get("role") or "",
    )


def _text(value: dict[str, Any], name: str) -> str:
    found = value[name]
    if not isinstance(found, str) or not found:
        raise KeyError(name)
    return found


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
