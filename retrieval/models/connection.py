"""One SDK client a provider, shared by the roles that use it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, Self, TypeVar

C = TypeVar("C")


class Connection(Generic[C]):
    """A client that several models share; the last `aclose` closes it.

    `slots` bounds how many calls are on their way at the same time.
    """

    def __init__(self, client: C, close: Callable[[], Awaitable[object]], *, concurrency: int = 16) -> None:
        self.client = client
        self.slots = asyncio.Semaphore(concurrency)
        self._close = close
        self._users = 0

    def share(self) -> Self:
        """Count one more user; each calls `aclose` once."""
        self._users += 1
        return self

    async def aclose(self) -> None:
        self._users -= 1
        if self._users == 0:
            await self._close()
