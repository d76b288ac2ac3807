"""What tests of parser pools share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import psutil

from retrieval.ingest.sandbox import ParserPool

#: Makes a pool that is closed when the test ends.
Make = Callable[..., ParserPool]


async def do(pool: ParserPool, deed: str, file: Path) -> str:
    return (await pool.parse(file, deed)).sections[0].markdown


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


#: Worker processes that were there before: of another test, which end just now.
_others: set[int] = set()


def forget_others() -> None:
    """Count from here on only what the test itself starts."""
    _others.clear()
    _others.update(workers())


def workers() -> set[int]:
    alive = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
    return {child.pid for child in alive if any("worker" in part for part in child.cmdline())} - _others
