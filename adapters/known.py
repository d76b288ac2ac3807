"""The threads that the bot takes part in, by the name of each one's note."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from adapters.durable import Notes

#: Seconds for which a thread is known after it was last begun.
KEEP: Final = 90 * 24 * 3600
_CACHED: Final = 10_000


class KnownThreads:
    """Known ones are cached, so that most messages cost no question to the store."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._known: OrderedDict[str, None] = OrderedDict()

    async def open(self, name: str) -> None:
        """From now on messages there may be for the bot, also those that don't mention it."""
        if name not in self._known:
            await self._notes.write(name, {"open": "1"}, seconds=KEEP)
            self._cache(name)

    async def holds(self, name: str) -> bool:
        if name in self._known:
            return True
        if "open" not in await self._notes.read(name):
            return False
        self._cache(name)
        return True

    def _cache(self, name: str) -> None:
        self._known[name] = None
        if len(self._known) > _CACHED:
            self._known.popitem(last=False)
