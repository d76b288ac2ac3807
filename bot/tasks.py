"""Ending asyncio tasks for certain."""

from __future__ import annotations

import asyncio
from typing import Any


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait until each has ended; what they raise is theirs to report.

    One cancellation may be swallowed: `asyncio.wait_for` of Python 3.11 does so when it comes just as
    the awaited work is done, and redis-py writes to its socket through it.
    """
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=0.2)
