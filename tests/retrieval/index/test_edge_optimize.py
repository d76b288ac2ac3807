"""Optimising beside the index that answers."""

import asyncio
from pathlib import Path

import pytest

from retrieval.index import edge_optimize
from retrieval.index.protocol import IndexUnavailable
from tests.retrieval.index.support import ALL, add, asked, vectors
from tests.retrieval.index.test_edge import MANY, names, opened, version, versions_found


async def test_optimising_changes_no_answer(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await add(index, version(1))
    await index.stage(version(2), vectors(MANY))
    before = await index.search(ALL, [asked("zebra n3 n7")], limit=20, mode="keyword")
    optimising = asyncio.create_task(index.optimize())
    late = asyncio.create_task(index.publish("w", "d", "d-v2"))
    while not optimising.done():  # it answers meanwhile, and writes wait
        hits = await index.search(ALL, [asked("zebra n3 n7")], limit=20, mode="keyword")
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in before])
        await asyncio.sleep(0.05)
        if not optimising.done():
            assert not late.done()
    await asyncio.gather(optimising, late)
    assert await versions_found(index) == {"v2": MANY}
    await index.close()
    index = await opened(tmp_path)
    assert await versions_found(index) == {"v2": MANY}
    assert names(tmp_path, "shard-*") == ["shard-2"]
    await index.close()


@pytest.mark.parametrize("end", ["fails", "is cancelled"])
async def test_an_optimisation_that_ends_early_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    index = await opened(tmp_path)
    await add(index, version(1))
    begun = asyncio.Event()

    async def broken(shard: Path) -> None:
        assert names(shard.parent, "shard-*") == ["shard-1", "shard-2"]
        begun.set()
        if end == "fails":
            raise IndexUnavailable("no memory")
        await asyncio.Event().wait()

    monkeypatch.setattr(edge_optimize, "run", broken)
    task = asyncio.create_task(index.optimize())
    await begun.wait()
    if end == "is cancelled":
        task.cancel()
    with pytest.raises((IndexUnavailable, asyncio.CancelledError)):
        await task
    assert names(tmp_path, "shard-*") == ["shard-1"]
    assert await versions_found(index) == {"v1": MANY}
    await index.close()


async def test_what_was_left_of_an_optimisation_is_removed(tmp_path: Path) -> None:
    await (await opened(tmp_path)).close()
    for name in ("shard-2", "shard-1.new"):
        (tmp_path / name).mkdir()
    index = await opened(tmp_path)
    assert names(tmp_path, "shard-*") == ["shard-1"]
    await index.close()


async def test_a_broken_shard_is_said_by_the_optimiser(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match="Optimising the index failed"):
        await edge_optimize.run(tmp_path / "none")
