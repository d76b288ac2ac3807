"""Streams and tasks that end when whoever uses them ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")


@asynccontextmanager
async def closing(stream: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T]]:
    """Close `stream` at the end, if it can be closed: leaving a loop early leaves nothing running."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


class Tasks:
    """Tasks that are cancelled, and waited for, when the block ends in whatever way.

    Unlike `asyncio.TaskGroup` it may stand around a `yield` of an async generator: it never cancels
    the task that runs the block.
    """

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[Any]] = []

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.append(task)
        return task

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        for task in self._tasks:
            if not task.cancelled():
                task.exception()  # fetched, so that nothing is logged about it


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All results in order. Unlike with `asyncio.gather`, the first failure ends the others."""
    async with Tasks() as tasks:
        started = [tasks.start(work) for work in works]
        return [await task for task in started]
