"""Posting a turn's messages so that each is there exactly once, whatever fails on the way.

Each message carries `metadata` with its turn's id and its part. What was posted is noted; after a kill,
or when a call ended without an answer, the thread is read to see what is there before anything is posted
again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.context import Installed, Slack
from adapters.slack.errors import (
    BAD_BLOCKS,
    GONE,
    NO_THREAD,
    STREAMING,
    NoPlace,
    RateLimited,
    Unclear,
    attempt,
    code_of,
    reason_of,
    why,
)
from adapters.slack.readback import EVENT_TYPE, LONGEST_WAIT, posted_of
from adapters.slack.render import SlackMessage

log = structlog.get_logger()

#: Seconds for which it is noted where a turn's messages are: for "Delete" and "Ask again".
KEEP: Final = 90 * 24 * 3600
_PAUSES: Final = (0.3, 1.0, 3.0, 8.0)


def posted_note(turn_id: str) -> str:
    """Name of the note that tells where a turn's messages are."""
    return f"slack-posted:{turn_id}"


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
    #: What else than an answer is no part of the talk: progress, greetings.
    answer: bool = True
    #: Timestamps by part.
    posted: dict[int, str] = field(default_factory=dict[int, str])
    #: Everything was delivered by an earlier run.
    done: bool = False

    @property
    def note(self) -> str:
        return posted_note(self.turn_id)

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
        payload = {"turn_id": self.turn_id, "part": part, "parts": parts, "answer": self.answer}
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
            except RateLimited as error:
                if number == tries - 1 or error.seconds > LONGEST_WAIT:
                    raise
                await asyncio.sleep(error.seconds + random.uniform(0, 0.5))  # noqa: S311
            except Unclear as error:
                log.warning("slack_call_unclear", error=str(error), part=part)
                if number == tries - 1:
                    raise
                await asyncio.sleep(_PAUSES[number] * random.uniform(0.7, 1.3))  # noqa: S311
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
                log.error("slack_refused_blocks", code=code, why=why(error))
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
            if code in GONE:
                return False
            if code == STREAMING:
                await self._close_stream(ts)
                raise Unclear(code) from error
            if code not in BAD_BLOCKS:
                raise
            log.error("slack_refused_blocks", code=code, why=why(error))
            await change(blocks=[])
        return True

    async def _close_stream(self, ts: str) -> None:
        """A stream that was left open, by a kill or a call that failed, can't be changed otherwise."""
        try:
            await attempt(
                lambda: self.installed.client.chat_stopStream(
                    channel=self.channel, ts=ts, metadata=self.metadata(0, 1, final=False)
                )
            )
        except (SlackApiError, Unclear) as error:
            log.info("slack_stream_not_stopped", error=reason_of(error))

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

    async def find(self) -> None:
        """Learn from the thread itself what is there."""
        found = await posted_of(
            self.installed, self.turn_id, channel=self.channel, thread=self.thread, since=self.since
        )
        self.posted = found | self.posted
        places = {str(part): f"{self.channel} {ts}" for part, ts in self.posted.items()}
        if places:
            await self.slack.bot.notes.write(self.note, places, seconds=KEEP)
