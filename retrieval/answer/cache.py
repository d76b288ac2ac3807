"""A small cache in memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class TtlCache(Generic[K, V]):
    """Keeps the `size` values used last, each for `ttl` seconds. For one event loop."""

    def __init__(self, size: int, ttl: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._ttl = ttl
        self._clock = clock
        self._values: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        found = self._values.get(key)
        if found is None:
            return None
        if self._clock() >= found[0]:
            del self._values[key]
            return None
        self._values.move_to_end(key)
        return found[1]

    def put(self, key: K, value: V) -> None:
        self._values[key] = (self._clock() + self._ttl, value)
        self._values.move_to_end(key)
        while len(self._values) > self._size:
            self._values.popitem(last=False)
