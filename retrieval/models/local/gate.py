"""Queries go first."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

#: Seconds that passages wait for queries at most, so that a stream of queries can't stop them for good.
_PATIENCE = 1.0


class Gate:
    """Counts the queries that wait or run; bulk work stops at the gate between two steps."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._queries = 0
        self._changed = threading.Condition()

    @contextmanager
    def query(self) -> Generator[None]:
        """Inside, bulk work takes no new step. Never blocks."""
        with self._changed:
            self._queries += 1
        try:
            yield
        finally:
            with self._changed:
                self._queries -= 1
                self._changed.notify_all()

    def wait(self) -> None:
        """Blocks the calling thread until no query is inside, or patience ends."""
        with self._changed:
            self._changed.wait_for(lambda: self._queries == 0, self._patience)
