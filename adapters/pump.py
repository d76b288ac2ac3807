"""Shows what is new again and again, at a humane rate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

Step = Callable[[], Coroutine[Any, Any, None]]


class Pump:
    """Takes a step when there is something new, then rests. A step that has begun is never broken off."""

    def __init__(self, step: Step, pause: Callable[[], float], *, begin: Step | None = None) -> None:
        """
        Args:
            pause: seconds until the next step, asked for after each.
            begin: done once before the first step; it may be broken off.
        """
        self._step, self._pause, self._begin = step, pause, begin
        self._new = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """There is something new."""
        self._new.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="pump")

    async def stop(self) -> None:
        """After that no step is taken until it is woken again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    async def _run(self) -> None:
        if self._begin is not None:
            await self._begin()
        while True:
            await self._new.wait()
            self._new.clear()
            await _unbroken(self._step())
            await asyncio.sleep(self._pause())


async def _unbroken(call: Coroutine[Any, Any, None]) -> None:
    """Make a call that a cancellation does not break off: what it did would not be known."""
    task = asyncio.ensure_future(call)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
