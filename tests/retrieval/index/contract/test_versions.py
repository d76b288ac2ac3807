"""Staging, publishing, replacing and removing: the same for every store."""

import asyncio

import numpy as np
import pytest

from retrieval.documents import Chunk, DocumentMeta, chunk_id
from retrieval.index.base import BATCH
from retrieval.index.protocol import NothingStaged, VectorIndex
from tests.retrieval.index.support import ALL, DIMENSION, add, asked, chunks_of, found, meta_of, vectors

MANY = BATCH * 2 + 3


def version(number: int, count: int = MANY) -> list[Chunk]:
    return chunks_of(meta_of(version=number), [f"zebra v{number} n{n}" for n in range(count)])


async def zebras(index: VectorIndex) -> set[str]:
    """Versions among the texts found; every chunk of each must be there."""
    texts = await found(index, "zebra")
    versions = {text.split()[1] for text in texts}
    assert len(texts) == MANY * len(versions)
    return versions


async def test_staged_chunks_are_not_found_until_published(index: VectorIndex) -> None:
    chunks = version(1)
    await index.stage(chunks, vectors(MANY))
    assert await found(index, "zebra") == []
    assert await index.search(ALL, [asked("zebra")], limit=5) == []
    assert await index.get(ALL, [chunks[0].chunk_id]) == []
    assert await index.languages(ALL) == frozenset()
    await index.publish("w", "d", "d-v1")
    assert await zebras(index) == {"v1"}
    assert await index.languages(ALL) == {"en"}


async def test_a_new_version_replaces_the_old(index: VectorIndex) -> None:
    await add(index, version(1))
    await index.stage(version(2), vectors(MANY))
    assert await zebras(index) == {"v1"}
    assert await index.versions("w") == {("d", "d-v1", True), ("d", "d-v2", False)}
    await index.publish("w", "d", "d-v2")
    assert await zebras(index) == {"v2"}
    assert await index.versions("w") == {("d", "d-v2", True)}


async def test_every_step_may_be_repeated(index: VectorIndex) -> None:
    for _ in range(2):
        await index.stage(version(1), vectors(MANY))
    for _ in range(2):
        await index.publish("w", "d", "d-v1")
    # After a kill the same version may be staged again although it is published.
    await index.stage(version(1), vectors(MANY))
    assert await zebras(index) == {"v1"}
    await index.publish("w", "d", "d-v1")
    assert await zebras(index) == {"v1"}
    assert (await index.stats()).chunks == MANY
    for _ in range(2):
        await index.discard("w", "never-staged")
        await index.delete_document("w", "never-there")
        await index.delete_workspace("never")
    assert await zebras(index) == {"v1"}


async def test_publishing_what_has_no_chunks_keeps_the_old_version(index: VectorIndex) -> None:
    await add(index, version(1))
    with pytest.raises(NothingStaged):
        await index.publish("w", "d", "d-v2")
    assert await zebras(index) == {"v1"}


async def test_a_version_that_comes_too_late_gives_way(index: VectorIndex) -> None:
    await index.stage(version(1), vectors(MANY))
    await index.stage(version(3), vectors(MANY))
    await index.stage(version(2), vectors(MANY))
    await index.publish("w", "d", "d-v2")
    assert await index.versions("w") == {("d", "d-v2", True), ("d", "d-v3", False)}
    await index.publish("w", "d", "d-v3")
    await add(index, version(1))
    assert await index.versions("w") == {("d", "d-v3", True)}


async def test_discard_leaves_only_what_is_published(index: VectorIndex) -> None:
    await add(index, version(1))
    await index.stage(version(2), vectors(MANY))
    await index.discard("w", "d-v2")
    await index.discard("w", "d-v1")
    assert await index.versions("w") == {("d", "d-v1", True)}
    assert (await index.stats()).chunks == MANY


async def test_deleting_leaves_nothing(index: VectorIndex) -> None:
    await add(index, version(1))
    await index.stage(version(2), vectors(MANY))
    other = chunks_of(meta_of("other"), ["zebra other"])
    elsewhere = chunks_of(meta_of("d", workspace="w2", version_id="elsewhere"), ["zebra elsewhere"])
    await add(index, other)
    await add(index, elsewhere)
    await index.delete_document("w", "d")
    assert await index.versions("w") == {("other", "other-v1", True)}
    assert await index.versions("w2") == {("d", "elsewhere", True)}
    await index.delete_workspace("w")
    assert await index.versions("w") == set()
    assert (await index.stats()).chunks == 1


async def test_a_search_sees_the_old_version_or_the_new(index: VectorIndex) -> None:
    await add(index, version(1))
    seen: list[set[str]] = []
    done = asyncio.Event()

    async def search() -> None:
        while not done.is_set():
            seen.append(await zebras(index))
            await asyncio.sleep(0)

    async def replace() -> None:
        for number in range(2, 4):
            await add(index, version(number))
        done.set()

    await asyncio.gather(search(), search(), replace())
    assert all(len(versions) == 1 for versions in seen)
    assert await zebras(index) == {"v3"}


async def test_languages_follow_what_is_published(index: VectorIndex) -> None:
    await add(index, chunks_of(meta_of("a"), ["the keys"], "en"))
    assert await index.languages(ALL) == {"en"}
    await add(index, chunks_of(meta_of("b"), ["die Verbindungen"], "de"))
    assert await index.languages(ALL) == {"en", "de"}
    assert await found(index, "Verbindung") == ["die Verbindungen"]
    await index.delete_document("w", "a")
    assert await index.languages(ALL) == {"de"}


async def test_labels_change_in_place(index: VectorIndex) -> None:
    chunks = chunks_of(meta_of(labels=("old",)), ["zebra"])
    await add(index, chunks)
    await index.set_labels("w", "d", ["new", "hr"])
    (hit,) = await index.search(ALL, [asked("zebra")], limit=1)
    assert hit.chunk.meta == chunks[0].meta.model_copy(update={"labels": ("new", "hr")})
    assert await found(index, "zebra", ALL.model_copy(update={"labels": frozenset({"hr"})}))
    assert not await found(index, "zebra", ALL.model_copy(update={"labels": frozenset({"old"})}))
    await index.set_labels("w", "d", [])
    assert (await index.get(ALL, [chunks[0].chunk_id]))[0].meta.labels == ()


@pytest.mark.parametrize("fault", [np.nan, np.inf])
async def test_vectors_that_are_no_numbers_are_refused(index: VectorIndex, fault: float) -> None:
    spoilt = vectors(2)
    spoilt[1, 3] = fault
    with pytest.raises(ValueError, match="NaN"):
        await index.stage(version(1, 2), spoilt)
    with pytest.raises(ValueError, match="shape"):
        await index.stage(version(1, 2), np.ones((2, DIMENSION + 1), np.float32))
    with pytest.raises(ValueError, match="shape"):
        await index.stage(version(1, 2), vectors(3))
    assert (await index.stats()).chunks == 0


async def test_a_version_is_told_from_others_of_strange_names(index: VectorIndex) -> None:
    """Ids are data: quotes, separators and NUL in them must not make two versions one."""
    names = ['a","b', "a", 'b"', "a\0b", "a/b", "ä"]
    for document in names:
        meta = DocumentMeta.model_validate(
            meta_of().model_dump() | {"document_id": document, "version_id": f"{document}|1"}
        )
        text = f"zebra {document}"
        chunk = Chunk(chunk_id=chunk_id(document, 0), meta=meta, ordinal=0, text=text, language="en")
        await add(index, [chunk])
    await index.delete_document("w", "a")
    assert {document for document, _, _ in await index.versions("w")} == set(names) - {"a"}
