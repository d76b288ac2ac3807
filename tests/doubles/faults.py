"""What goes wrong with calls, whoever takes them: as a script, or at random from a seed."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Generic, TypeVar

F = TypeVar("F")


class FaultPlan(Generic[F]):
    """`next(call, *faults)` spoils the next calls of a kind (`"*"`: of any), one fault a call."""

    def __init__(self) -> None:
        self._script: dict[str, deque[F | None]] = {}
        self._random: Random | None = None
        self._rates: list[tuple[float, F]] = []
        self._only: frozenset[str] | None = None

    def next(self, call: str, *faults: F | None, times: int = 1) -> None:
        """`times` repeats them; None lets one call pass."""
        self._script.setdefault(call, deque()).extend(faults * times)

    def at_random(self, seed: int, *rates: tuple[float, F], only: frozenset[str] | None = None) -> None:
        """Each call is spoiled with these probabilities (together at most 1); `only` names the kinds."""
        self._random, self._rates, self._only = Random(seed), list(rates), only

    def clear(self) -> None:
        self._script.clear()
        self._random = None

    def pick(self, call: str) -> F | None:
        for name in (call, "*"):
            if queue := self._script.get(name):
                return queue.popleft()
        if self._random is None or (self._only is not None and call not in self._only):
            return None
        chance = self._random.random()
        for rate, fault in self._rates:
            if chance < rate:
                return fault
            chance -= rate
        return None
