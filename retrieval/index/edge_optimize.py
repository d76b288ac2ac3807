"""Optimising a shard in a process of its own: in ours it would stop every other thread for a minute."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from retrieval.index.protocol import IndexUnavailable

#: Seconds after which an optimisation is given up.
_TIMEOUT = 1800

# Imports nothing of ours, so it runs wherever this interpreter finds its packages.
_SCRIPT = """
import os, sys
import qdrant_edge
if hasattr(os, "nice"):
    os.nice(10)
shard = qdrant_edge.EdgeShard.load(sys.argv[1])
shard.optimize()
shard.flush()
shard.close()
"""


async def run(shard: Path) -> None:
    """Optimise a shard that nobody has open. Raises `IndexUnavailable`; cancelling ends the process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _SCRIPT,
        str(shard),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_TIMEOUT):
            _, errors = await process.communicate()
    except TimeoutError:
        raise IndexUnavailable(f"Optimising the index took over {_TIMEOUT} s and was stopped.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last = errors.decode(errors="replace").strip().splitlines()[-1:]
        raise IndexUnavailable(f"Optimising the index failed: {' '.join(last)[:300]}")
