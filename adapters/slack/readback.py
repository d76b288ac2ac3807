"""Reading back what the bot has posted of a turn: after a kill, or a call without an answer."""

from __future__ import annotations

from typing import Any, Final, cast

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.context import Installed
from adapters.slack.errors import NoPlace, Unclear, reason_of
from adapters.slack.pages import messages_of

log = structlog.get_logger()

#: Tells the bot's replies from all other messages.
EVENT_TYPE: Final = "footnote_reply"
#: Seconds that Slack's "later" is waited for.
LONGEST_WAIT: Final = 65.0


async def posted_of(
    installed: Installed, turn_id: str, *, channel: str, thread: str | None, since: str
) -> dict[int, str]:
    """Timestamps of the turn's messages by part. Where Slack can't be read: those that were, logged."""
    found: dict[int, str] = {}
    try:
        messages = messages_of(
            installed, channel, thread, since=since, wait=LONGEST_WAIT, tries=4, again=True
        )
        async for message in messages:
            part = _part(message, installed, turn_id, thread, since)
            if part is not None:
                found.setdefault(part, str(message["ts"]))
    except (Unclear, NoPlace, SlackApiError) as error:
        log.warning("slack_thread_unreadable", error=reason_of(error))
    return found


def _part(
    message: dict[str, Any], installed: Installed, turn_id: str, thread: str | None, since: str
) -> int | None:
    mine = message.get("bot_id") == installed.bot_id or message.get("user") == installed.bot_user
    ts = str(message.get("ts") or "")
    if not mine or ts <= since or ts == thread:
        return None
    metadata = cast("dict[str, Any]", message.get("metadata") or {})
    if metadata.get("event_type") == EVENT_TYPE:
        payload = cast("dict[str, Any]", metadata.get("event_payload") or {})
        return int(payload.get("part") or 0) if payload.get("turn_id") == turn_id else None
    # A stream gets its metadata only at its end, and nothing else of the bot's comes without. A thread
    # has one turn at a time, so this one is this turn's.
    return 0 if not metadata and thread is not None else None
