"""What only the embedded index has: one owner, a thread, and a log that survives a kill."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from retrieval.documents import Chunk
from retrieval.index import edge_shard
from retrieval.index.base import BATCH, Change
from retrieval.index.edge import EdgeIndex
from retrieval.index.edge_files import EdgeFiles
from retrieval.index.protocol import Fingerprint, IndexMismatch, IndexUnavailable
from tests.data import ROOT
from tests.retrieval.index.support import ALL, MODEL, add, asked, chunks_of, found, meta_of, vectors

MANY = BATCH * 3 + 5


def version(number: int, document: str = "d") -> list[Chunk]:
    return chunks_of(meta_of(document, number), [f"zebra v{number} n{n}" for n in range(MANY)])


async def opened(folder: Path, model: Fingerprint = MODEL) -> EdgeIndex:
    index = EdgeIndex(folder)
    await index.open(model)
    return index


def names(folder: Path, pattern: str) -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


async def versions_found(index: EdgeIndex) -> dict[str, int]:
    texts = await found(index, "zebra")
    return {v: sum(text.split()[1] == v for text in texts) for v in {text.split()[1] for text in texts}}


async def test_it_is_there_after_reopening(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await add(index, version(1))
    before = await index.search(ALL, [asked("zebra n3")], limit=9)
    await index.close()
    index = await opened(tmp_path)
    assert await index.search(ALL, [asked("zebra n3")], limit=9) == before
    await index.close()


@pytest.mark.parametrize(
    "other",
    [
        MODEL.model_copy(update={"model": "another"}),
        MODEL.model_copy(update={"revision": "2"}),
        MODEL.model_copy(update={"dimension": 8}),
    ],
)
async def test_another_model_is_refused(tmp_path: Path, other: Fingerprint) -> None:
    await (await opened(tmp_path)).close()
    index = EdgeIndex(tmp_path)
    with pytest.raises(IndexMismatch) as refusal:
        await index.open(other)
    await index.close()
    assert all(word in str(refusal.value) for word in (MODEL.model, other.model, "kb reindex"))
    await (await opened(tmp_path)).close()


@pytest.mark.parametrize("damage", ["{", json.dumps({"format": 999})])
async def test_what_it_cannot_read_is_said(tmp_path: Path, damage: str) -> None:
    await (await opened(tmp_path)).close()
    (tmp_path / "index.json").write_text(damage)
    with pytest.raises(IndexUnavailable, match="kb reindex"):
        await opened(tmp_path)


async def test_a_second_owner_is_refused(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    script = f"""
import asyncio
from pathlib import Path
from retrieval.index.edge import EdgeIndex
from retrieval.index.edge_files import EdgeFiles
from tests.retrieval.index.support import MODEL
asyncio.run(EdgeIndex(Path({str(tmp_path)!r})).open(MODEL))
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, cwd=ROOT, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode
    assert b"IndexUnavailable" in errors
    assert b"in use by another process" in errors
    await index.close()
    with pytest.raises(IndexUnavailable, match="not open"):
        await index.stats()


class Crash(Exception):
    pass


def crash_after(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """Let so many writes through, and then none."""
    left = [calls]

    def counted(write: Any) -> Any:
        def guarded(*arguments: Any) -> Any:
            if left[0] == 0:
                raise Crash
            left[0] -= 1
            return write(*arguments)

        return guarded

    for name in ("upsert", "set_payload", "delete"):
        monkeypatch.setattr(edge_shard, name, counted(getattr(edge_shard, name)))


@pytest.mark.parametrize("calls", range(9))
@pytest.mark.parametrize("reopen", [True, False], ids=["killed", "goes on"])
async def test_a_replacement_that_breaks_off_is_finished(tmp_path: Path, calls: int, reopen: bool) -> None:
    """At every step: until then a search finds one whole version, and afterwards the new one alone."""
    index = await opened(tmp_path)
    await add(index, version(1))
    await index.stage(version(2), vectors(MANY))
    with pytest.MonkeyPatch.context() as patch:
        crash_after(patch, calls)
        if calls < 8:  # four batches to mark, four to delete
            with pytest.raises(IndexUnavailable):
                await index.publish("w", "d", "d-v2")
        else:
            await index.publish("w", "d", "d-v2")
        assert await versions_found(index) == ({"v1": MANY} if calls < 4 else {"v2": MANY})
    if reopen:
        await index.close()
        index = await opened(tmp_path)
    else:
        await index.discard("w", "no such version")  # any write
    assert await versions_found(index) == {"v2": MANY}
    assert await index.versions("w") == {("d", "d-v2", True)}
    assert names(tmp_path, "pending*") == []
    await index.close()


@pytest.mark.parametrize("calls", range(3))
async def test_a_deletion_that_breaks_off_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    index = await opened(tmp_path)
    await add(index, version(1))
    with monkeypatch.context() as patch:
        crash_after(patch, calls)
        with pytest.raises(IndexUnavailable):
            await index.delete_document("w", "d")
        assert await versions_found(index) == {}
    await index.close()
    index = await opened(tmp_path)
    assert (await index.stats()).chunks == 0
    await index.close()


async def test_a_cancelled_replacement_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = await opened(tmp_path)
    await add(index, version(1))
    await index.stage(version(2), vectors(MANY))
    begun, loop, begin = asyncio.Event(), asyncio.get_running_loop(), EdgeFiles.begin

    def noticed(files: EdgeFiles, change: Change) -> None:
        begin(files, change)
        loop.call_soon_threadsafe(begun.set)

    monkeypatch.setattr(EdgeFiles, "begin", noticed)
    publishing = asyncio.create_task(index.publish("w", "d", "d-v2"))
    await begun.wait()
    publishing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await publishing
    assert await index.versions("w") == {("d", "d-v2", True)}
    await index.close()


WRITER = """
import asyncio, sys
from pathlib import Path
from tests.retrieval.index.support import MODEL, vectors
from tests.retrieval.index.test_edge import EdgeIndex, version

async def main():
    index = EdgeIndex(Path(sys.argv[1]))
    await index.open(MODEL)
    for number in range(1, 100):
        chunks = version(number)
        for start in range(0, len(chunks), 40):
            await index.stage(chunks[start : start + 40], vectors(len(chunks))[start : start + 40])
            print("staged", number, min(start + 40, len(chunks)), flush=True)
        await index.publish("w", "d", f"d-v{number}")
        print("published", number, 0, flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("seed", range(4))
def test_what_was_acknowledged_survives_sigkill(tmp_path: Path, seed: int) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert writer.stdout
    said: list[tuple[str, int, int]] = []
    for line in writer.stdout:
        what, number, count = line.split()
        said.append((what, int(number), int(count)))
        if len(said) == random.Random(seed).randint(6, 22):
            writer.send_signal(signal.SIGKILL)
    writer.wait()
    asyncio.run(check_after_kill(tmp_path, said))


async def check_after_kill(folder: Path, said: list[tuple[str, int, int]]) -> None:
    index = await opened(folder)
    published = max((number for what, number, _ in said if what == "published"), default=0)
    live = await versions_found(index)
    # The next one may have been published, or be as far, without having said so.
    assert list(live) in ([f"v{published}"], [f"v{published + 1}"]) if published else len(live) <= 1
    assert set(live.values()) <= {MANY}
    if f"v{published + 1}" not in live:
        staged = [count for what, n, count in said if what == "staged" and n == published + 1]
        assert (await index.stats()).chunks >= sum(live.values()) + max(staged, default=0)
    await add(index, version(100))
    assert await versions_found(index) == {"v100": MANY}
    assert (await index.stats()).chunks == MANY
    await index.close()


async def test_the_loop_runs_while_the_thread_works(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    staging = asyncio.create_task(index.stage(version(1), vectors(MANY)))
    turns = 0
    while not staging.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 20
    await index.close()
