"""A message that is edited while work goes on: at a humane rate, and only its newest state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

import structlog

from adapters.pump import Pump

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
        self._place, self._failures = place, failures
        self._newest: M | None = None
        self._shown: M | None = None
        self._pump = Pump(self._put, lambda: every)
        #: There is no place for the message: the work goes on unseen.
        self.nowhere = False

    def show(self, message: M) -> None:
        self._newest = message
        self._pump.wake()

    async def close(self) -> None:
        """Stop showing; the last state stays as it is."""
        await self._pump.stop()

    async def finish(self, message: M) -> None:
        """Show the end. Raises `Failures.unclear` where it could not be shown, for the work to be begun
        again."""
        await self.close()
        try:
            await self._place.finish([message])
        except self._failures.nowhere as error:
            self._lost(error)

    async def _put(self) -> None:
        message = self._newest
        if self.nowhere or message is None or message == self._shown:
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
