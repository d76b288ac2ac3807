"""How many calls Teams takes in a time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable, Sequence

from tests.doubles.clock import Clock
from tests.doubles.teams.errors import Refusal


class Rates:
    """Sliding windows. A refused call counts for nothing."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._calls: dict[Hashable, deque[float]] = {}

    def take(self, *wanted: tuple[Hashable, Sequence[tuple[float, int]]]) -> None:
        """Count a call for each key; raises the 429 where one of its windows is full."""
        now = self._clock.now()
        for key, windows in wanted:
            calls = self._calls.setdefault(key, deque())
            longest = max(seconds for seconds, _ in windows)
            while calls and calls[0] <= now - longest:
                calls.popleft()
            for seconds, most in windows:
                recent = [at for at in calls if at > now - seconds]
                if len(recent) >= most:
                    wait = max(1, math.ceil(recent[-most] + seconds - now))
                    raise too_many(wait)
        for key, _ in wanted:
            self._calls[key].append(now)


def too_many(after: int | None = None) -> Refusal:
    headers = {} if after is None else {"Retry-After": str(after)}
    return Refusal(
        429, "Throttled", "API calls quota exceeded! Maximum admitted is reached.", headers=headers
    )
