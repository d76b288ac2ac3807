"""Reading back what the bot has posted of a turn: after a kill, or a call without an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final, cast

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.context import Installed
from adapters.slack.errors import NoPlace, RateLimited, Unclear, attempt, reason_of

log = structlog.get_logger()

#: Tells the bot's replies from all other messages.
EVENT_TYPE: Final = "footnote_reply"
#: Seconds that Slack's "later" is waited for.
LONGEST_WAIT: Final = 65.0
_PAUSES: Final = (0.3, 1.0, 3.0)


async def posted_of(
    installed: Installed, turn_id: str, *, channel: str, thread: str | None, since: str
) -> dict[int, str]:
    """Timestamps of the turn's messages by part. Where Slack can't be read: those that were, logged."""
    found: dict[int, str] = {}
    try:
        async for message in _messages(installed, channel, thread, since):
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


async def _messages(
    installed: Installed, channel: str, thread: str | None, since: str
) -> AsyncIterator[dict[str, Any]]:
    cursor = ""
    while True:
        page = await _page(installed, channel, thread, since, cursor)
        for message in page.get("messages") or []:
            yield message
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            return


async def _page(installed: Installed, channel: str, thread: str | None, since: str, cursor: str) -> Any:
    """One page of the thread, or of the channel. Reading is repeated freely."""
    client = installed.client
    asked: dict[str, Any] = {
        "channel": channel,
        "oldest": since,
        "limit": 200,
        "include_all_metadata": True,
    }
    if cursor:
        asked["cursor"] = cursor
    for pause in (*_PAUSES, None):
        try:
            if thread is None:
                return await attempt(lambda: client.conversations_history(**asked))
            return await attempt(lambda: client.conversations_replies(ts=thread, **asked))
        except Unclear as error:
            if pause is None:
                raise
            if isinstance(error, RateLimited):
                if error.seconds > LONGEST_WAIT:
                    raise
                pause = error.seconds
            await asyncio.sleep(pause)
    raise AssertionError("unreachable")
