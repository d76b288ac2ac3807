"""Writes down how far an ingest is, without keeping it waiting."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from redis.exceptions import RedisError

from bot.ingest_queue import Cancelled, Lease, LeaseLost
from bot.records import Status
from bot.transitions import Transitions
from retrieval.ingest.protocol import IngestProgress

#: Shortest time in seconds between two reports of the same stage.
INTERVAL: Final = 0.25


class Reporter:
    """A `retrieval.ingest.protocol.Report`. Measures how long each stage takes, too."""

    def __init__(self, transitions: Transitions, lease: Lease) -> None:
        self._transitions = transitions
        self._lease = lease
        self._newest: Status | None = None
        self._writing: asyncio.Task[None] | None = None
        self._stopped_by: Cancelled | LeaseLost | None = None
        self._stage = ""
        self._began = self._wrote = time.monotonic()
        self._timings: dict[str, float] = {}

    async def __call__(self, progress: IngestProgress) -> None:
        """Raises `Cancelled` or `LeaseLost` where an earlier report found that: the ingest stops."""
        if self._stopped_by is not None:
            raise self._stopped_by
        now = time.monotonic()
        if progress.stage != self._stage:
            self._turn(progress.stage, now)
        elif now - self._wrote < INTERVAL:
            return
        self._wrote = now
        if progress.stage in ("done", "failed"):  # so it is when it is so for everybody
            return
        self._newest = Status(stage=progress.stage, done=progress.done, total=progress.total)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def settle(self) -> None:
        """Wait until all is written. Raises what stopped the ingest, if something did."""
        self._newest = None
        if self._writing is not None:
            await asyncio.wait([self._writing])
        if self._stopped_by is not None:
            raise self._stopped_by

    def timings(self) -> dict[str, float]:
        """Seconds by stage, as far as it has come."""
        self._turn("", time.monotonic())
        return {stage: round(seconds, 3) for stage, seconds in self._timings.items()}

    async def _write(self) -> None:
        while (status := self._newest) is not None:
            self._newest = None
            try:
                await self._transitions.report(self._lease, status)
            except (Cancelled, LeaseLost) as stop:
                self._stopped_by = stop
                return
            except RedisError:  # what is written next, or the heartbeat, will tell
                return

    def _turn(self, stage: str, now: float) -> None:
        if self._stage:
            self._timings[self._stage] = self._timings.get(self._stage, 0.0) + now - self._began
        self._stage, self._began = stage, now
