"""Events of the Events API as values: what was said, by whom, where. Everything else is told by name."""

from __future__ import annotations

import re
from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adapters.slack.text import text_in

#: Other subtypes tell of something that happened (joins, edits, topics), or are the bot's own.
_SAID: Final = frozenset({None, "file_share", "thread_broadcast", "me_message"})
_MENTION: Final = re.compile(r"<@([A-Z0-9]+)(?:\|[^>]*)?>")


class Said(BaseModel):
    """A message that a person, or another bot, wrote."""

    model_config = ConfigDict(frozen=True)

    team: str
    enterprise: str | None = None
    channel: str
    #: "channel", "group", "im" or "mpim"; an `app_mention` does not tell.
    channel_type: str | None = None
    user: str | None = None
    bot: str | None = None
    bot_name: str = ""
    ts: str
    thread_ts: str | None = None
    text: str = ""
    files: tuple[dict[str, Any], ...] = ()
    blocks: tuple[dict[str, Any], ...] = ()
    attachments: tuple[dict[str, Any], ...] = ()
    event_id: str = ""

    @property
    def root(self) -> str:
        """The message that the thread hangs on; it may be this one."""
        return self.thread_ts or self.ts

    @property
    def name(self) -> str:
        return f"{self.team}:{self.channel}:{self.ts}"

    @property
    def lane(self) -> str:
        return lane(self.team, self.channel, self.root)

    @property
    def direct(self) -> bool:
        return self.channel_type == "im" or self.channel.startswith("D")

    @property
    def words(self) -> str:
        """In Slack's markup; those of the blocks where there is no `text`."""
        return text_in(self.text, self.blocks, ())

    def mentions(self, user: str) -> bool:
        return user in _MENTION.findall(self.words)

    @property
    def only_mentions(self) -> bool:
        """No word beside mentions."""
        return not _MENTION.sub("", self.words).strip()


class Deleted(BaseModel):
    """A message was deleted."""

    model_config = ConfigDict(frozen=True)

    team: str
    enterprise: str | None = None
    channel: str
    ts: str
    root: str


class Edited(BaseModel):
    """A message's text was changed by its author."""

    model_config = ConfigDict(frozen=True)

    message: Said


class Ignored(BaseModel):
    """Nothing that the bot acts on."""

    model_config = ConfigDict(frozen=True)

    why: str


Event = Said | Deleted | Edited | Ignored


class _Envelope(BaseModel):
    team_id: str = Field(min_length=1)
    enterprise_id: str | None = None
    event_id: str = ""
    event: dict[str, Any]


def lane(team: str, channel: str, root: str) -> str:
    """One thread; what is asked in it is answered in order."""
    return f"{team}:{channel}:{root}"


def read_event(body: dict[str, Any]) -> Event:
    """Of a `message` or `app_mention` event, whatever it holds."""
    try:
        envelope = _Envelope.model_validate(body)
        event = envelope.event
        match event.get("subtype"):
            case "message_deleted":
                return _deleted(envelope)
            case "message_changed":
                return _edited(envelope)
            case subtype if event.get("bot_id") or subtype == "bot_message":
                if event.get("hidden"):
                    return Ignored(why="hidden")
                return _said(envelope, event)
            case subtype if subtype in _SAID:
                if event.get("hidden") or not event.get("user"):
                    return Ignored(why="nobody said it")
                return _said(envelope, event)
            case subtype:
                return Ignored(why=str(subtype)[:40])
    except (ValidationError, TypeError, ValueError):
        return Ignored(why="unreadable")


def _part(event: dict[str, Any], name: str) -> dict[str, Any]:
    part: Any = event.get(name)
    return cast("dict[str, Any]", part) if isinstance(part, dict) else {}


def _said(envelope: _Envelope, event: dict[str, Any], channel: str | None = None) -> Said:
    return Said(
        team=envelope.team_id,
        enterprise=envelope.enterprise_id,
        channel=channel or event.get("channel", ""),
        channel_type=event.get("channel_type"),
        user=event.get("user"),
        bot=event.get("bot_id"),
        bot_name=str(event.get("username") or _part(event, "bot_profile").get("name") or ""),
        ts=event.get("ts", ""),
        thread_ts=event.get("thread_ts"),
        text=event.get("text") or "",
        files=tuple(event.get("files") or ()),
        blocks=tuple(event.get("blocks") or ()),
        attachments=tuple(event.get("attachments") or ()),
        event_id=envelope.event_id,
    )


def _deleted(envelope: _Envelope) -> Event:
    event = envelope.event
    before = _part(event, "previous_message")
    ts = event.get("deleted_ts") or before.get("ts") or ""
    return Deleted(
        team=envelope.team_id,
        enterprise=envelope.enterprise_id,
        channel=event.get("channel", ""),
        ts=ts,
        root=before.get("thread_ts") or ts,
    )


def _edited(envelope: _Envelope) -> Event:
    """Unfurls and thread counters come as `message_changed`, too: there, no author edited anything."""
    event = envelope.event
    now, before = _part(event, "message"), _part(event, "previous_message")
    if now.get("subtype") == "tombstone":  # a deleted message with replies under it
        ts = now.get("ts") or ""
        return Deleted(
            team=envelope.team_id,
            enterprise=envelope.enterprise_id,
            channel=event.get("channel", ""),
            ts=ts,
            root=now.get("thread_ts") or ts,
        )
    if now.get("bot_id") or not now.get("user") or not now.get("edited"):
        return Ignored(why="message_changed")
    if now.get("text") == before.get("text"):
        return Ignored(why="unchanged text")
    return Edited(message=_said(envelope, now, event.get("channel", "")))
