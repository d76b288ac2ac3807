"""What is in scope is found, and nothing else: checked against the plainest possible filter."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_client import AsyncQdrantClient

from retrieval.documents import Chunk
from retrieval.index.edge import EdgeIndex
from retrieval.index.protocol import SearchMode, VectorIndex
from retrieval.index.server import ServerIndex
from retrieval.scope import Scope
from tests.retrieval.index.support import MODEL, NOON, asked, chunks_of, meta_of, vectors

WORKSPACES = ["w1", "w2", "W1"]
AUDIENCES = ["workspace", "shareable", "channel:slack:T:C", "person:p1", "person:p2"]
BASES = ["kb1", "kb2", "kb3"]
LABELS = ["hr", "it", "HR", "a b", ""]
UPLOADERS = ["ann", "bob"]
DOCUMENTS = [f"d{n}" for n in range(40)]
DAYS = [NOON + timedelta(days=n) for n in range(5)]
MOMENTS = [*DAYS, DAYS[2] + timedelta(microseconds=1), DAYS[2].astimezone(timezone(timedelta(hours=9)))]


def some(rng: np.random.Generator, among: list[str], most: int) -> tuple[str, ...]:
    return tuple(rng.choice(among, rng.integers(0, most + 1), replace=False).tolist())


def population(seed: int) -> list[tuple[list[Chunk], bool]]:
    """Documents of two chunks, and whether each is published."""
    rng = np.random.default_rng(seed)
    documents: list[tuple[list[Chunk], bool]] = []
    for document in DOCUMENTS:
        workspace = str(rng.choice(WORKSPACES))
        meta = meta_of(
            document,
            workspace=workspace,
            version_id=f"{workspace}/{document}",
            knowledge_base=str(rng.choice(BASES)),
            labels=some(rng, LABELS, 3),
            uploader=(None, *UPLOADERS)[rng.integers(3)],
            audience=some(rng, AUDIENCES, 3),
            uploaded_at=DAYS[rng.integers(len(DAYS))],
        )
        documents.append(
            (chunks_of(meta, [f"zebra {document} a", f"zebra {document} b"]), rng.random() < 0.8)
        )
    return documents


async def opened(kind: str, folder: Path, documents: list[tuple[list[Chunk], bool]]) -> VectorIndex:
    index = EdgeIndex(folder) if kind == "edge" else ServerIndex(AsyncQdrantClient(":memory:"), "footnote")
    await index.open(MODEL)
    for chunks, published in documents:
        await index.stage(chunks, vectors(2))
        meta = chunks[0].meta
        if published:
            await index.publish(meta.workspace, meta.document_id, meta.version_id)
    return index


Filled = tuple[VectorIndex, list[tuple[list[Chunk], bool]]]


@pytest.fixture(scope="module", params=[("edge", 1), ("edge", 2), ("server", 1)], ids=str)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    kind, seed = request.param
    documents = population(seed)
    index = asyncio.run(opened(kind, tmp_path_factory.mktemp("index"), documents))
    yield index, documents
    asyncio.run(index.close())


def in_scope(chunk: Chunk, scope: Scope) -> bool:
    meta = chunk.meta
    return (
        meta.workspace == scope.workspace
        and bool(scope.audience & set(meta.audience))
        and (scope.knowledge_bases is None or meta.knowledge_base in scope.knowledge_bases)
        and (scope.labels is None or bool(scope.labels & set(meta.labels)))
        and (scope.documents is None or meta.document_id in scope.documents)
        and (scope.uploaders is None or meta.uploader in scope.uploaders)
        and (scope.uploaded_after is None or meta.uploaded_at >= scope.uploaded_after)
        and (scope.uploaded_before is None or meta.uploaded_at < scope.uploaded_before)
    )


def among(values: list[str], most: int | None = None) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from([*values, "unknown"]), max_size=most)


scopes = st.builds(
    Scope,
    workspace=st.sampled_from([*WORKSPACES, "unknown"]),
    audience=among(AUDIENCES),
    knowledge_bases=st.none() | among(BASES),
    labels=st.none() | among(LABELS),
    documents=st.none() | among(DOCUMENTS),
    uploaders=st.none() | among(UPLOADERS),
    uploaded_after=st.none() | st.sampled_from(MOMENTS),
    uploaded_before=st.none() | st.sampled_from(MOMENTS),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scope=scopes, mode=st.sampled_from(["hybrid", "semantic", "keyword"]))
def test_found_is_what_is_in_scope(filled: Filled, scope: Scope, mode: SearchMode) -> None:
    index, documents = filled
    expected = [c for chunks, published in documents for c in chunks if published and in_scope(c, scope)]
    everything = [c.chunk_id for chunks, _ in documents for c in chunks]
    hits = asyncio.run(index.search(scope, [asked("zebra")], limit=500, mode=mode))
    got = asyncio.run(index.get(scope, everything))
    assert sorted(hit.chunk.chunk_id for hit in hits) == sorted(c.chunk_id for c in expected)
    assert [c.chunk_id for c in got] == [c.chunk_id for c in expected]
    assert {c.chunk_id: c for c in got} == {c.chunk_id: c for c in expected}


def test_an_empty_audience_finds_nothing_without_asking_the_store(tmp_path: Path) -> None:
    index = asyncio.run(opened("edge", tmp_path, population(3)[:2]))
    asyncio.run(index.close())
    scope = Scope(workspace="w1", audience=frozenset())
    assert asyncio.run(index.search(scope, [asked("zebra")], limit=5, mode="semantic")) == []
    assert asyncio.run(index.get(scope, [population(3)[0][0][0].chunk_id])) == []


def test_a_moment_without_a_zone_is_utc(filled: Filled) -> None:
    index, documents = filled
    naive = datetime(2026, 12, 2, 12)
    for workspace in WORKSPACES:
        scope = Scope(workspace=workspace, audience=frozenset(AUDIENCES), uploaded_after=naive)
        aware = scope.model_copy(update={"uploaded_after": naive.replace(tzinfo=UTC)})
        first, second = (
            asyncio.run(index.search(s, [asked("zebra")], limit=99, mode="keyword")) for s in (scope, aware)
        )
        assert [hit.chunk for hit in first] == [hit.chunk for hit in second]
    assert documents
