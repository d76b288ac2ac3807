"""Rebuilding beside the index that answers, for both stores; killed at any point, one of them answers."""

from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from retrieval.index.edge import EdgeIndex
from retrieval.index.generations import EdgeGenerations, ServerGenerations
from retrieval.index.protocol import Fingerprint, IndexMismatch, VectorIndex
from tests.retrieval.index.support import ALL, MODEL, add, chunks_of, found, meta_of

NEXT = Fingerprint(model="next-model", dimension=MODEL.dimension, revision="1")


class Stores:
    """One store over the life of several processes."""

    def __init__(self, kind: str, root: Path) -> None:
        self.kind = kind
        self.root = root
        self.client = AsyncQdrantClient(":memory:")
        self.opened: list[VectorIndex] = []

    def start(self) -> EdgeGenerations | ServerGenerations:
        """As a new process sees it."""
        if self.kind == "edge":
            return EdgeGenerations(self.root)
        return ServerGenerations(self.client, "footnote")

    async def kill(self, *indexes: VectorIndex) -> None:
        """What the end of a process does for the files it has open, and nothing else."""
        for index in indexes:
            if isinstance(index, EdgeIndex):
                await index.close()

    async def held(self) -> list[str]:
        if self.kind == "edge":
            return sorted(path.name for path in self.root.iterdir() if path.is_dir())
        return sorted(
            c.name.removeprefix("footnote-") for c in (await self.client.get_collections()).collections
        )


@pytest.fixture(params=["edge", "server"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    return Stores(request.param, tmp_path / "index")


async def filled(stores: Stores) -> VectorIndex:
    index = await stores.start().open(MODEL)
    await add(index, chunks_of(meta_of(), ["zebra old"]))
    return index


async def test_a_rebuild_replaces_the_index_at_once(stores: Stores) -> None:
    generations = stores.start()
    old = await filled(stores)
    new = await generations.begin(NEXT)  # type: ignore[arg-type]
    assert await found(new, "zebra") == []
    await add(new, chunks_of(meta_of(), ["zebra new"]))
    assert await found(old, "zebra") == ["zebra old"]
    await generations.switch(new)  # type: ignore[arg-type]
    assert await found(old, "zebra") == ["zebra old"]
    assert await found(new, "zebra") == ["zebra new"]
    await old.close()
    await generations.prune()
    assert await stores.held() == ["g2"]
    assert await found(new, "zebra") == ["zebra new"]
    await new.close()
    again = await stores.start().open(NEXT)
    assert await found(again, "zebra") == ["zebra new"]
    await again.close()


async def test_the_old_model_is_refused_after_the_switch(stores: Stores) -> None:
    old = await filled(stores)
    with pytest.raises(IndexMismatch):
        await stores.start().open(NEXT)
    new = await stores.start().begin(NEXT)
    await stores.start().switch(new)  # type: ignore[arg-type]
    await stores.kill(old, new)
    with pytest.raises(IndexMismatch, match=r"next-model.*test-model"):
        await stores.start().open(MODEL)


async def test_killed_before_the_switch_the_old_one_answers(stores: Stores) -> None:
    old = await filled(stores)
    new = await stores.start().begin(NEXT)
    await add(new, chunks_of(meta_of(), ["zebra new"]))
    await stores.kill(old, new)
    old = await stores.start().open(MODEL)
    assert await found(old, "zebra") == ["zebra old"]
    assert await stores.held() == ["g1", "g2"]
    new = await stores.start().begin(NEXT)
    assert await found(new, "zebra") == []
    await stores.kill(old, new)
    await stores.start().prune()
    assert await stores.held() == ["g1"]


async def test_killed_after_the_switch_the_new_one_answers(stores: Stores) -> None:
    old = await filled(stores)
    new = await stores.start().begin(NEXT)
    await add(new, chunks_of(meta_of(), ["zebra new"]))
    await stores.start().switch(new)  # type: ignore[arg-type]
    await stores.kill(old, new)
    new = await stores.start().open(NEXT)
    assert await found(new, "zebra") == ["zebra new"]
    await stores.start().prune()
    assert await stores.held() == ["g2"]
    third = await stores.start().begin(MODEL)
    assert await stores.held() == ["g2", "g3"]
    await stores.kill(new, third)


async def test_pruning_leaves_alone_what_is_not_ours(stores: Stores) -> None:
    await stores.kill(await filled(stores))
    if stores.kind == "edge":
        (stores.root / "gold").mkdir()
    else:
        for name in ("footnote-gold", "other-g7"):
            await stores.client.create_collection(name)
    await stores.start().prune()
    assert set(await stores.held()) - {"other-g7"} == {"g1", "gold"}
    assert stores.kind == "edge" or "other-g7" in await stores.held()


async def test_everything_in_scope_is_found_in_a_later_generation(stores: Stores) -> None:
    index = await filled(stores)
    for _ in range(3):
        following = await stores.start().begin(MODEL)
        await add(following, chunks_of(meta_of(), ["zebra old"]))
        await stores.start().switch(following)  # type: ignore[arg-type]
        await stores.kill(index)
        index = following
    assert await found(index, "zebra", ALL) == ["zebra old"]
    await stores.kill(index)
