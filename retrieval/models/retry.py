"""One policy for every outside model call: timeouts, bounded attempts, backoff, a deadline."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import structlog

from retrieval.models.protocol import ModelError

T = TypeVar("T")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Failure:
    """What an exception means: the error to end with, and whether another attempt can help."""

    error: ModelError
    again: bool = False


#: Turns an exception of an SDK into a `Failure`; None for one it doesn't know (a fault of ours).
Explain = Callable[[Exception], Failure | None]


def equal_jitter(bound: float) -> float:
    """Between half of `bound` and all of it, so that clients don't come back in step."""
    return random.uniform(bound / 2, bound)  # noqa: S311


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """All times are seconds. Cancelling a call ends it at once, in any phase."""

    attempts: int = 3
    #: One attempt; for a stream, the wait for its next piece.
    timeout: float = 60.0
    #: All attempts and pauses of a call together; for a stream, until its end.
    deadline: float = 180.0
    first_pause: float = 0.5
    longest_pause: float = 8.0
    #: A server that asks for a longer wait than this gets no further attempt.
    longest_retry_after: float = 30.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[float], float] = equal_jitter
    limit: Callable[[float], asyncio.Timeout] = asyncio.timeout

    async def run(self, attempt: Callable[[], Awaitable[T]], explain: Explain) -> T:
        """The result of the first attempt that succeeds, else `ModelError`.

        A `ModelError` out of `attempt` is final.
        """
        end = self.clock() + self.deadline
        number = 1
        while True:
            try:
                async with self.limit(self._left(end)):
                    return await attempt()
            except ModelError:
                raise
            except Exception as error:
                failure = explain(error)
                if failure is None:
                    raise
            # Out of the except block, so that the SDK's exception (which may hold the key or the
            # prompt) is neither cause nor context of what is raised.
            await self._pause(failure, number, end)
            number += 1

    async def stream(self, start: Callable[[], AsyncGenerator[T]], explain: Explain) -> AsyncGenerator[T]:
        """The pieces of `start()`, which is called again only while nothing has been yielded."""
        end = self.clock() + self.deadline
        number = 1
        begun = False
        while True:
            pieces = start()
            failure: Failure | None = None
            try:
                while True:
                    try:
                        async with self.limit(self._left(end)):
                            piece = await anext(pieces)
                    except StopAsyncIteration:
                        return
                    except ModelError:
                        raise
                    except Exception as error:
                        failure = explain(error)
                        if failure is None:
                            raise
                        break
                    begun = True
                    yield piece
            finally:
                await pieces.aclose()
            if begun:
                raise failure.error
            await self._pause(failure, number, end)
            number += 1

    def _left(self, end: float) -> float:
        return max(0.0, min(self.timeout, end - self.clock()))

    async def _pause(self, failure: Failure, number: int, end: float) -> None:
        """Wait before the next attempt, or raise the error where none is due."""
        after = failure.error.retry_after
        if after is None:
            pause = self.jitter(min(self.first_pause * 2 ** (number - 1), self.longest_pause))
        else:
            pause = after + self.jitter(self.first_pause)
        too_late = self.clock() + pause >= end or (after or 0.0) > self.longest_retry_after
        if not failure.again or number >= self.attempts or too_late:
            raise failure.error
        log.info(
            "model_retry",
            model=failure.error.model,
            kind=failure.error.kind,
            attempt=number,
            pause=round(pause, 2),
        )
        await self.sleep(pause)
