"""What goes wrong with calls of the Web API: as a script, or at random from a seed."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True, slots=True)
class Fails:
    """Slack answers `{"ok": false, "error": code}`; `status` 200 as usual. Nothing happened."""

    code: str
    status: int = 200
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RateLimited:
    """429 with `Retry-After`. Nothing happened."""

    after: int = 1


@dataclass(frozen=True, slots=True)
class Breaks:
    """A 5xx with a page instead of JSON. `effect`: what was asked for has happened nevertheless."""

    effect: bool = False
    status: int = 503


@dataclass(frozen=True, slots=True)
class Hangs:
    """No answer until the double closes."""

    effect: bool = False


@dataclass(frozen=True, slots=True)
class Drops:
    """The connection is closed without an answer."""

    effect: bool = False


@dataclass(frozen=True, slots=True)
class Slow:
    """The answer comes after some real seconds."""

    seconds: float


Fault = Fails | RateLimited | Breaks | Hangs | Drops | Slow


class Faults:
    """`next(method, *faults)` spoils the next calls of a method (`"*"`: of any), one fault a call."""

    def __init__(self) -> None:
        self._script: dict[str, deque[Fault | None]] = {}
        self._random: Random | None = None
        self._rates: list[tuple[float, Fault]] = []
        self._only: frozenset[str] | None = None

    def next(self, method: str, *faults: Fault | None, times: int = 1) -> None:
        """`times` repeats them; None lets one call pass."""
        self._script.setdefault(method, deque()).extend(faults * times)

    def at_random(self, seed: int, *rates: tuple[float, Fault], only: frozenset[str] | None = None) -> None:
        """Each call is spoiled with these probabilities (together at most 1); `only` names the methods."""
        self._random, self._rates, self._only = Random(seed), list(rates), only

    def clear(self) -> None:
        self._script.clear()
        self._random = None

    def pick(self, method: str) -> Fault | None:
        for name in (method, "*"):
            if queue := self._script.get(name):
                return queue.popleft()
        if self._random is None or (self._only is not None and method not in self._only):
            return None
        chance = self._random.random()
        for rate, fault in self._rates:
            if chance < rate:
                return fault
            chance -= rate
        return None
