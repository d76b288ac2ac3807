"""Long work in pure Python, done on the event loop a little at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")

#: Seconds of work before others get their turn. A thread would do worse: it keeps the interpreter for
#: 5 ms each time the event loop wants it back, which is several times in each turn of the loop.
SLICE = 0.002


async def in_slices(steps: Iterable[T]) -> AsyncIterator[T]:
    """The items of `steps`, with a turn for everything else that is ready at least every `SLICE` seconds.

    The work between two items, this side's and the caller's, is never divided.
    """
    began = perf_counter()
    for step in steps:
        yield step
        if perf_counter() - began >= SLICE:
            await asyncio.sleep(0)
            began = perf_counter()
