"""Parser processes that are killed from outside while they have a file in work."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from retrieval.ingest.protocol import Unreadable
from tests.retrieval.ingest.pools import Make, do, until, workers


@pytest.fixture
def at_work(file: Path, tmp_path: Path) -> Path:
    """A folder in which each process says that it has the file of the deed "wait" in work."""
    folder = tmp_path / "at work"
    folder.mkdir()
    file.write_bytes(os.fsencode(folder))
    return folder


def pids(folder: Path) -> set[int]:
    return {int(path.name) for path in folder.iterdir()}


async def killed_at_work(folder: Path, *, but: frozenset[int] = frozenset()) -> int:
    """Kill the process that has the file in work, and is none of `but`."""
    found: set[int] = set()

    def begun() -> bool:
        found.update(pids(folder) - but)
        return bool(found)

    await until(begun)
    (pid,) = found
    os.kill(pid, signal.SIGKILL)
    return pid


async def test_a_file_whose_process_was_killed_gets_a_second_one(
    bad: Make, file: Path, at_work: Path
) -> None:
    """From outside: by somebody who tidied up, or for want of memory elsewhere."""
    waiting = asyncio.create_task(do(bad(), "wait", file))
    first = await killed_at_work(at_work)
    await until(lambda: len(pids(at_work)) == 2)
    (at_work / "go").touch()
    assert await waiting == "here"
    assert first not in workers()


async def test_a_file_whose_process_was_killed_twice_is_refused(
    bad: Make, file: Path, at_work: Path
) -> None:
    pool = bad()
    waiting = asyncio.create_task(do(pool, "wait", file))
    first = await killed_at_work(at_work)
    second = await killed_at_work(at_work, but=frozenset({first}))
    with pytest.raises(Unreadable, match="corrupt"):
        await waiting
    assert pids(at_work) == {first, second}, "there was no third"
    assert await do(pool, "print_much", file) == "printed"
