"""A message that is edited while work goes on: at a humane rate, and only its newest state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

import structlog

from adapters.tasks import unbroken

log = structlog.get_logger()

#: Seconds between two edits.
EVERY: Final = 2.0

M = TypeVar("M")
_Put = TypeVar("_Put", contravariant=True)


class Place(Protocol[_Put]):
    """Where the message stands: a platform's delivery."""

    async def put(self, part: int, message: _Put, *, final: bool, tries: int) -> str: ...

    async def finish(self, messages: Sequence[_Put]) -> None: ...


@dataclass(frozen=True)
class Failures:
    """What a platform's delivery raises."""

    #: There is no place for the message.
    nowhere: tuple[type[Exception], ...]
    #: It may be there.
    unclear: type[Exception]
    #: A word for the log.
    reason: Callable[[Exception], str]


class Edits(Generic[M]):
    """`show` as often as there is something new, then `finish`. The first message is posted, later ones
    take its place; after a kill they take the place of what the killed process has posted."""

    def __init__(self, place: Place[M], failures: Failures, *, every: float = EVERY) -> None:
        self._place, self._failures, self._every = place, failures, every
        self._newest: M | None = None
        self._shown: M | None = None
        self._changed = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        #: There is no place for the message: the work goes on unseen.
        self.nowhere = False

    def show(self, message: M) -> None:
        self._newest = message
        self._changed.set()
        if self._pump is None:
            self._pump = asyncio.create_task(self._pumping(), name="edits")

    async def close(self) -> None:
        """Stop showing; the last state stays as it is."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait([self._pump])
            self._pump = None

    async def finish(self, message: M) -> None:
        """Show the end. Raises `Failures.unclear` where it could not be shown, for the work to be begun
        again."""
        await self.close()
        try:
            await self._place.finish([message])
        except self._failures.nowhere as error:
            self._lost(error)

    async def _pumping(self) -> None:
        while not self.nowhere:
            await self._changed.wait()
            self._changed.clear()
            await unbroken(self._put())
            await asyncio.sleep(self._every)

    async def _put(self) -> None:
        message = self._newest
        if message is None or message == self._shown:
            return
        try:
            await self._place.put(0, message, final=False, tries=1)
            self._shown = message
        except self._failures.unclear as error:
            log.info("progress_not_shown", error=self._failures.reason(error))
        except self._failures.nowhere as error:
            self._lost(error)
        except Exception:
            log.exception("progress_failed")

    def _lost(self, error: Exception) -> None:
        self.nowhere = True
        log.warning("progress_nowhere", error=self._failures.reason(error))
