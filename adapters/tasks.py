"""Calls that must not be broken off."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


async def unbroken(call: Coroutine[Any, Any, None]) -> None:
    """Make a call that a cancellation does not break off: what it did would not be known."""
    task = asyncio.ensure_future(call)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
