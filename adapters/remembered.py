"""What a platform has told, kept for a short while in this process."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class _Known(Generic[V]):
    #: None where the platform did not tell.
    value: V | None
    #: When it told, or failed to.
    at: float


class Remembered(Generic[K, V]):
    """Those that were not needed longest go first. Who asks for the same at a time shares one answer."""

    def __init__(self, now: Callable[[], float], *, size: int, failed: float) -> None:
        """`size` is how many are kept; `failed` for how many seconds it is that nothing was told."""
        self._now, self._size, self._failed = now, size, failed
        self._known: OrderedDict[K, _Known[V]] = OrderedDict()
        self._asking: dict[K, asyncio.Task[V | None]] = {}

    async def get(self, key: K, fresh: float, ask: Callable[[], Awaitable[V | None]]) -> V | None:
        """Not older than `fresh` seconds. `ask` gives None where nothing is told, and raises nothing."""
        known = self._known.get(key)
        if known is not None and self._now() < known.at + (self._failed if known.value is None else fresh):
            self._known.move_to_end(key)
            return known.value
        task = self._asking.get(key)
        if task is None:
            task = asyncio.create_task(self._ask(key, ask))
            self._asking[key] = task
            task.add_done_callback(lambda _done: self._asking.pop(key, None))
        # One who goes away does not take the answer from the others who wait for it.
        return await asyncio.shield(task)

    async def _ask(self, key: K, ask: Callable[[], Awaitable[V | None]]) -> V | None:
        value = await ask()
        self._known[key] = _Known(value, self._now())
        self._known.move_to_end(key)
        while len(self._known) > self._size:
            self._known.popitem(last=False)
        return value
