"""Posting a turn's messages so that each is there exactly once, as far as Teams lets that be known.

What was posted is noted at once. A streamed message can be ended twice without harm. For others there is
a gap of one call: where it ended without an answer, or the process was killed in it, Graph is asked what
is there; without Graph the message is posted again, since silence would be worse.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import structlog

from adapters.teams.context import Json, Teams
from adapters.teams.errors import (
    TOO_LARGE,
    NoEffect,
    NoGraph,
    NoPlace,
    RateLimited,
    TeamsError,
    Unclear,
    reason_of,
)
from adapters.teams.graph_messages import message_of
from adapters.teams.posted import note_activity, turn_of_activity
from adapters.teams.reference import Reference
from adapters.teams.render import placeholder, smaller
from adapters.teams.stream import Stream, StreamEnded

log = structlog.get_logger()

#: Seconds for which it is noted where a turn's messages are.
KEEP: Final = 90 * 24 * 3600
#: Seconds that a call waits here when Teams says "later"; beyond, the work is begun again later.
LONGEST_WAIT: Final = 30.0
_PAUSES: Final = (0.3, 1.0, 3.0, 8.0)
_SKEW: Final = timedelta(seconds=120)
#: What a message says that could become neither the reply nor nothing.
_BELOW: Final = "My answer is in the next message."


@dataclass
class Delivery:
    """The messages of one turn. `resumed`: something of it may be there already."""

    teams: Teams
    reference: Reference
    turn_id: str
    #: The question's id, and when it was asked: nothing of the reply is older.
    reply_to: str | None = None
    since: datetime | None = None
    resumed: bool = False
    #: Ids by part.
    posted: dict[int, str] = field(default_factory=dict[int, str])
    #: The stream that part 0 will end.
    stream: Stream | None = None
    #: A message that could not become the reply, and goes when the reply is there.
    leftover: str | None = None
    #: Everything was delivered by an earlier run.
    done: bool = False
    #: A part whose post may have had its effect.
    _unclear: int | None = None

    @property
    def note(self) -> str:
        return f"teams-posted:{self.turn_id}"

    async def open(self) -> None:
        """Learn what an earlier run has posted."""
        if not self.resumed:
            return
        kept = await self.teams.bot.notes.read(self.note)
        self.posted = {int(part): place for part, place in kept.items() if part.isdecimal()}
        self.done = "done" in kept
        self.leftover = kept.get("leftover")
        if (stream := kept.get("stream")) is not None and 0 not in self.posted:
            self.stream = Stream(self.teams.connector, self.reference, stream)
        if (part := kept.get("posting", "")).isdecimal() and int(part) not in self.posted:
            self._unclear = int(part)

    async def keep(self, part: int, activity_id: str) -> None:
        self.posted[part] = activity_id
        await self.teams.bot.notes.write(self.note, {str(part): activity_id, "posting": ""}, seconds=KEEP)
        await note_activity(self.teams, self.reference, activity_id, self.turn_id)

    async def keep_stream(self, stream: Stream) -> None:
        self.stream = stream
        await self.teams.bot.notes.write(self.note, {"stream": stream.id}, seconds=KEEP)

    async def abandon_stream(self) -> None:
        """What was streamed stays until the reply stands beside it."""
        if self.stream is not None:
            self.leftover, self.stream = self.stream.id, None
            await self.teams.bot.notes.write(self.note, {"leftover": self.leftover}, seconds=KEEP)
            await self.teams.bot.notes.erase(self.note, "stream")

    async def _leave(self, part: int) -> None:
        """What stands there can't become that part, and goes when the reply is there."""
        if self.leftover is not None:
            await self._remove(self.leftover)
        self.leftover = self.posted.pop(part)
        await self.teams.bot.notes.write(self.note, {"leftover": self.leftover}, seconds=KEEP)
        await self.teams.bot.notes.erase(self.note, str(part))

    async def put(self, part: int, activity: Json, *, final: bool = True, tries: int = 4) -> str:
        """Post a part, or change what stands in its place. Gives its id.

        Raises `NoPlace`; `Unclear` after several tries, for the work to be begun again later.
        """
        for number in range(tries):
            try:
                return await self._put(part, activity, once=not final)
            except RateLimited as error:
                if number == tries - 1 or error.seconds > LONGEST_WAIT:
                    raise
                await asyncio.sleep(error.seconds + random.uniform(0, 0.5))  # noqa: S311
            except Unclear as error:
                log.warning("teams_call_unclear", error=str(error)[:80], part=part, final=final)
                if number == tries - 1:
                    raise
                await asyncio.sleep(_PAUSES[number] * random.uniform(0.7, 1.3))  # noqa: S311
            except TeamsError as error:
                if error.code != TOO_LARGE or (less := smaller(activity)) is None:
                    raise
                log.error("teams_reply_too_large", part=part)
                activity = less
        raise Unclear("too large, again and again")

    async def _put(self, part: int, activity: Json, *, once: bool = False) -> str:
        if (known := self.posted.get(part)) is not None:
            try:
                await self.teams.connector.update(self.reference, known, activity, once=once)
                return known
            except NoPlace:
                raise
            except TeamsError as error:
                if error.status == 404:
                    del self.posted[part]  # somebody deleted it
                elif error.status == 400 and not once:
                    log.warning("teams_edit_refused", code=reason_of(error), part=part)
                    await self._leave(part)
                else:
                    raise
        if self._unclear == part and await self._find(part):
            return await self._put(part, activity)
        self._unclear = part
        await self.teams.bot.notes.write(self.note, {"posting": str(part)}, seconds=KEEP)
        try:
            sent = await self.teams.connector.send(self.reference, self._reply(activity), once=once)
        except (NoEffect, TeamsError):
            self._unclear = None
            raise
        self._unclear = None
        await self.keep(part, sent)
        return sent

    def _reply(self, activity: Json) -> Json:
        return {**activity, "replyToId": self.reply_to} if self.reply_to else activity

    async def _find(self, part: int) -> bool:
        """Ask Graph whether the message is there. All that the bot has posted in this thread is noted, and
        one turn at a time is worked in it: what is not noted, and not older than the question, is it."""
        reference, graph = self.reference, self.teams.graph
        try:
            raw = await (graph.chat(reference) if reference.root is None else graph.replies(reference))
        except NoGraph as error:
            log.warning("teams_post_repeated", part=part, why=error.why)
            return False
        for one in reversed(raw):
            message = message_of(one, bot=reference.bot)
            if message is None or message.role != "assistant" or self._older(message.at):
                continue
            if await turn_of_activity(self.teams, reference, message.id) is None:
                await self.keep(part, message.id)
                return True
        return False

    def _older(self, at: datetime | None) -> bool:
        return self.since is not None and at is not None and at < self.since - _SKEW

    async def finish(self, activities: Sequence[Json]) -> None:
        """Show the whole reply, part by part and in order. What was posted beyond it is removed."""
        for part, activity in enumerate(activities):
            if part == 0 and self.stream is not None:
                await self._end_stream(self.stream, activity)
            else:
                await self.put(part, activity)
        for part in sorted(set(self.posted) - set(range(len(activities)))):
            await self._remove(self.posted.pop(part))
        if self.leftover is not None and not await self._remove(self.leftover):
            with suppress(TeamsError, Unclear):
                await self.teams.connector.update(self.reference, self.leftover, placeholder(_BELOW))
        await self.teams.bot.notes.write(self.note, {"done": str(len(activities))}, seconds=KEEP)
        self.done = True

    async def _end_stream(self, stream: Stream, activity: Json) -> None:
        for number in range(4):
            try:
                await self.keep(0, await stream.finish(activity))
            except StreamEnded as error:
                log.info("teams_stream_ended", how=error.how)
                if error.how == "completed" or (error.how == "stopped" and stream.text):
                    await self.keep(0, stream.id)
                else:
                    await self.abandon_stream()
                    await self.put(0, activity)
            except Unclear as error:
                seconds = error.seconds if isinstance(error, RateLimited) else _PAUSES[number]
                if number == 3 or seconds > LONGEST_WAIT:
                    raise
                await asyncio.sleep(seconds * random.uniform(1.0, 1.3))  # noqa: S311
                continue
            except NoPlace:
                raise
            except TeamsError as error:
                log.warning("teams_stream_not_ended", code=reason_of(error))
                await self.abandon_stream()
                await self.put(0, activity)
            self.stream = None
            return

    async def remove(self) -> None:
        """Take away everything of a turn whose question is gone."""
        for activity_id in (*self.posted.values(), *filter(None, [self.leftover])):
            await self._remove(activity_id)
        self.posted.clear()
        await self.teams.bot.notes.erase(self.note)

    async def _remove(self, activity_id: str) -> bool:
        """False where Teams does not take it away."""
        with suppress(Unclear):
            try:
                await self.teams.connector.delete(self.reference, activity_id)
            except TeamsError as error:
                log.info("teams_not_deleted", code=reason_of(error))
                return error.status == 404
            return True
        return False
