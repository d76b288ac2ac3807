"""The time in a double: real time, or what a test says."""

from __future__ import annotations

import time


class Clock:
    """`Clock()` follows real time and `advance` leaps ahead; `Clock(at)` moves by `advance` alone."""

    def __init__(self, at: float | None = None) -> None:
        self._at = at
        self._ahead = 0.0

    def now(self) -> float:
        """Seconds since the epoch."""
        return (time.time() if self._at is None else self._at) + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += seconds
