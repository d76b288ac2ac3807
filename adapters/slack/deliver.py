"""Posting a turn's messages so that each is there exactly once, whatever fails on the way.

Each message carries `metadata` with its turn's id and its part. What was posted is noted; after a kill, or
when a call ended without an answer, the thread is read to see what is there before anything is posted again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import structlog
from aiohttp import ClientError
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.slack.context import Installed, Slack
from adapters.slack.render import SlackMessage

log = structlog.get_logger()

#: Tells the bot's replies from all other messages.
EVENT_TYPE: Final = "footnote_reply"
#: Seconds for which it is noted where a turn's messages are: for "Delete" and "Ask again".
KEEP: Final = 90 * 24 * 3600
#: The place is gone, or the bot may not write there: trying again is no use.
NO_PLACE: Final = frozenset({
    "channel_not_found", "not_in_channel", "is_archived", "restricted_action", "restricted_action_thread_only_channel",
    "restricted_action_read_only_channel", "cannot_reply_to_message", "user_not_found", "cannot_dm_bot",
    "messages_tab_disabled", "missing_scope", "no_permission", "ekm_access_denied", "team_access_not_granted",
    "user_disabled", "thread_locked",
})  # fmt: skip
#: The thread's root is gone, or no thread can hang on it.
NO_THREAD: Final = frozenset({"invalid_thread_ts", "thread_not_found"})
#: The bot has no right to be there any more.
NO_TOKEN: Final = frozenset({
    "invalid_auth", "account_inactive", "token_revoked", "token_expired", "not_authed", "org_login_required",
    "team_disabled", "app_uninstalled",
})  # fmt: skip
#: What Slack finds too large or wrong in blocks; words alone still go.
BAD_BLOCKS: Final = frozenset({
    "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "invalid_arguments",
})  # fmt: skip
_GONE: Final = frozenset(
    {"message_not_found", "cant_update_message", "edit_window_closed", "update_failed"}
)
_TRANSIENT: Final = frozenset({
    "ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout",
    "team_added_to_org", "accesslimited",
})  # fmt: skip
_PAUSES: Final = (0.3, 1.0, 3.0, 8.0)


class NoPlace(Exception):
    """The reply can't be shown where it belongs; `code` is Slack's."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


class Unclear(Exception):
    """The call ended without an answer: it may have had its effect."""


def code_of(error: SlackApiError) -> str:
    response = cast("Any", error.response)
    try:
        return str(response.get("error") or "")
    except (AttributeError, ValueError):
        return ""


def _status(error: SlackApiError) -> int:
    return int(getattr(cast("Any", error.response), "status_code", 0) or 0)


async def attempt(call: Callable[[], Awaitable[Any]]) -> Any:
    """One call. Raises `Unclear` where it may have had an effect, `NoPlace`, or Slack's own error."""
    try:
        return await call()
    except SlackApiError as error:
        code = code_of(error)
        if code in NO_PLACE or code in NO_TOKEN:
            raise NoPlace(code) from error
        if code in _TRANSIENT or _status(error) >= 500 or not code:
            raise Unclear(code or str(_status(error))) from error
        raise
    except (TimeoutError, ClientError, SlackClientError, OSError) as error:
        raise Unclear(type(error).__name__) from error


@dataclass
class Delivery:
    """The messages of one turn. `resumed`: something of it may be there already."""

    slack: Slack
    installed: Installed
    channel: str
    #: None: in the channel itself.
    thread: str | None
    turn_id: str
    #: The question's own timestamp: nothing of the reply is older.
    since: str
    resumed: bool = False
    #: Timestamps by part.
    posted: dict[int, str] = field(default_factory=dict[int, str])
    #: Everything was delivered by an earlier run.
    done: bool = False

    @property
    def note(self) -> str:
        return f"slack-posted:{self.turn_id}"

    async def open(self) -> None:
        """Learn what an earlier run has posted."""
        if not self.resumed:
            return
        kept = await self.slack.bot.notes.read(self.note)
        self.posted = {int(part): place.split(" ")[1] for part, place in kept.items() if part.isdecimal()}
        self.done = "done" in kept
        if not self.done:
            await self.find()
            if self.posted:
                log.info("slack_reply_resumed", parts=sorted(self.posted))

    def metadata(self, part: int, parts: int, *, final: bool) -> dict[str, Any]:
        payload = {"turn_id": self.turn_id, "part": part, "parts": parts}
        return {
            "event_type": EVENT_TYPE,
            "event_payload": payload | {"state": "final" if final else "placeholder"},
        }

    async def keep(self, part: int, ts: str) -> None:
        self.posted[part] = ts
        await self.slack.bot.notes.write(self.note, {str(part): f"{self.channel} {ts}"}, seconds=KEEP)

    async def put(
        self, part: int, message: SlackMessage, *, parts: int = 1, final: bool = True, tries: int = 4
    ) -> str:
        """Post a part, or change what stands in its place. Gives its timestamp.

        Raises `NoPlace`; `Unclear` after several tries, for the work to be begun again later.
        """
        for number in range(tries):
            try:
                if (ts := self.posted.get(part)) is not None:
                    if await self._change(part, ts, message, parts, final):
                        return ts
                    del self.posted[part]
                return await self._post(part, message, parts, final)
            except Unclear as error:
                log.warning("slack_call_unclear", error=str(error), part=part)
                if number == tries - 1:
                    raise
                await asyncio.sleep(_PAUSES[number] * random.uniform(0.7, 1.3))
                if part not in self.posted:
                    await self.find()
        raise AssertionError("unreachable")

    async def _post(self, part: int, message: SlackMessage, parts: int, final: bool) -> str:
        async def post(**more: Any) -> Any:
            return await attempt(
                lambda: self.installed.client.chat_postMessage(
                    channel=self.channel,
                    text=message["text"],
                    metadata=self.metadata(part, parts, final=final),
                    unfurl_links=False,
                    unfurl_media=False,
                    **more,
                )
            )

        thread = {"thread_ts": self.thread} if self.thread else {}
        try:
            answer = await post(blocks=message["blocks"], **thread)
        except SlackApiError as error:
            code = code_of(error)
            if code in NO_THREAD:
                if not self.channel.startswith("D"):
                    raise NoPlace(code) from error
                answer = await post(blocks=message["blocks"])
            elif code in BAD_BLOCKS:
                log.error("slack_refused_blocks", code=code, why=_why(error))
                answer = await post(**thread)
            else:
                raise
        ts = str(answer["ts"])
        await self.keep(part, ts)
        return ts

    async def _change(self, part: int, ts: str, message: SlackMessage, parts: int, final: bool) -> bool:
        """False where there is nothing (any more) to change."""

        async def change(**more: Any) -> None:
            await attempt(
                lambda: self.installed.client.chat_update(
                    channel=self.channel,
                    ts=ts,
                    text=message["text"],
                    metadata=self.metadata(part, parts, final=final),
                    **more,
                )
            )

        try:
            await change(blocks=message["blocks"])
        except SlackApiError as error:
            code = code_of(error)
            if code in _GONE:
                return False
            if code not in BAD_BLOCKS:
                raise
            log.error("slack_refused_blocks", code=code, why=_why(error))
            await change(blocks=[])
        return True

    async def finish(self, messages: Sequence[SlackMessage]) -> None:
        """Show the whole reply, part by part and in order. What was posted beyond it is removed."""
        for part, message in enumerate(messages):
            await self.put(part, message, parts=len(messages))
        for part in sorted(set(self.posted) - set(range(len(messages)))):
            await self._remove(self.posted.pop(part))
        await self.slack.bot.notes.write(self.note, {"done": str(len(messages))}, seconds=KEEP)
        self.done = True

    async def remove(self) -> None:
        """Take away everything of a turn whose question is gone."""
        for ts in self.posted.values():
            await self._remove(ts)
        self.posted.clear()
        await self.slack.bot.notes.erase(self.note)

    async def _remove(self, ts: str) -> None:
        try:
            await attempt(lambda: self.installed.client.chat_delete(channel=self.channel, ts=ts))
        except SlackApiError as error:
            log.warning("slack_not_deleted", code=code_of(error))
        except NoPlace as error:
            log.warning("slack_not_deleted", code=error.code)

    # -- what is there -------------------------------------------------------------------------

    async def find(self) -> None:
        """Read the thread for what a run that was killed, or a call without an answer, has posted."""
        try:
            async for message in self._messages():
                self._recognise(message)
        except (Unclear, NoPlace, SlackApiError) as error:
            log.warning("slack_thread_unreadable", error=str(error)[:80])
            return
        places = {str(part): f"{self.channel} {ts}" for part, ts in self.posted.items()}
        if places:
            await self.slack.bot.notes.write(self.note, places, seconds=KEEP)

    def _recognise(self, message: dict[str, Any]) -> None:
        mine = (
            message.get("bot_id") == self.installed.bot_id or message.get("user") == self.installed.bot_user
        )
        ts = str(message.get("ts") or "")
        if not mine or ts <= self.since or ts == self.thread:
            return
        metadata = cast("dict[str, Any]", message.get("metadata") or {})
        payload = cast("dict[str, Any]", metadata.get("event_payload") or {})
        if metadata.get("event_type") == EVENT_TYPE:
            if payload.get("turn_id") == self.turn_id:
                self.posted.setdefault(int(payload.get("part") or 0), ts)
        elif not metadata and self.thread is not None:
            # A stream gets its metadata only at its end, and nothing else of the bot's comes without. One
            # thread has one turn at a time, so this one is this turn's.
            self.posted.setdefault(0, ts)

    async def _messages(self) -> Any:
        cursor = ""
        client = self.installed.client
        while True:
            more = {"cursor": cursor} if cursor else {}
            if self.thread is not None:
                page = await attempt(
                    lambda more=more: client.conversations_replies(
                        channel=self.channel, ts=self.thread or "", oldest=self.since,
                        include_all_metadata=True, limit=200, **more,
                    )
                )  # fmt: skip
            else:
                page = await attempt(
                    lambda more=more: client.conversations_history(
                        channel=self.channel,
                        oldest=self.since,
                        include_all_metadata=True,
                        limit=200,
                        **more,
                    )
                )
            for message in page.get("messages") or []:
                yield message
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return


def _why(error: SlackApiError) -> list[str]:
    """Slack's own words about what it refused: paths and limits, no text of the message."""
    try:
        found = cast("Any", error.response).get("response_metadata") or {}
        return [str(line)[:200] for line in found.get("messages") or []][:5]
    except (AttributeError, ValueError):
        return []
