"""A `VectorIndex` in memory: cosine and word overlap, fused by reciprocal rank. Small and exact."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from retrieval.documents import Chunk
from retrieval.index.protocol import (
    RRF_K,
    Fingerprint,
    Hit,
    Hits,
    IndexMismatch,
    IndexStats,
    ListRank,
    QueryText,
    SearchMode,
    Vectors,
)
from retrieval.models.protocol import Embedder
from retrieval.scope import Scope
from tests.doubles.models import overlap


class MemoryIndex:
    """Records the texts of each search in `searches`.

    `error`, where set, is raised by every reading method; `wait` is awaited before a search.
    """

    def __init__(self, *, wait: Callable[[], Awaitable[object]] | None = None) -> None:
        self.searches: list[list[str]] = []
        self.modes: list[SearchMode] = []
        self.error: Exception | None = None
        self._wait = wait
        self._fingerprint: Fingerprint | None = None
        self._chunks: dict[str, tuple[Chunk, Vectors]] = {}
        self._published: set[str] = set()

    async def add(self, chunks: Sequence[Chunk], embedder: Embedder) -> None:
        """Embed, stage and publish."""
        vectors = await embedder.embed_passages([chunk.context() for chunk in chunks])
        await self.stage(chunks, vectors)
        for meta in {chunk.meta.version_id: chunk.meta for chunk in chunks}.values():
            await self.publish(meta.workspace, meta.document_id, meta.version_id)

    async def open(self, fingerprint: Fingerprint) -> None:
        if self._fingerprint not in (None, fingerprint):
            raise IndexMismatch(self._fingerprint, fingerprint)
        self._fingerprint = fingerprint

    async def stage(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        for chunk, vector in zip(chunks, vectors, strict=True):
            self._chunks[chunk.chunk_id] = (chunk, vector)

    async def publish(self, workspace: str, document_id: str, version_id: str) -> None:
        self._published.add(version_id)
        self._drop(
            workspace, lambda c: c.meta.document_id == document_id and c.meta.version_id != version_id
        )

    async def discard(self, workspace: str, version_id: str) -> None:
        self._drop(workspace, lambda chunk: chunk.meta.version_id == version_id)

    async def delete_document(self, workspace: str, document_id: str) -> None:
        self._drop(workspace, lambda chunk: chunk.meta.document_id == document_id)

    async def set_labels(self, workspace: str, document_id: str, labels: Sequence[str]) -> None:
        for key, (chunk, vector) in self._chunks.items():
            if chunk.meta.workspace == workspace and chunk.meta.document_id == document_id:
                meta = chunk.meta.model_copy(update={"labels": tuple(labels)})
                self._chunks[key] = (chunk.model_copy(update={"meta": meta}), vector)

    async def delete_workspace(self, workspace: str) -> None:
        self._drop(workspace, lambda _: True)

    async def search(
        self,
        scope: Scope,
        queries: Sequence[QueryText],
        *,
        limit: int,
        mode: SearchMode = "hybrid",
        explain: bool = True,
    ) -> Hits:
        self.searches.append([query.text for query in queries])
        self.modes.append(mode)
        if self._wait:
            await self._wait()
        chunks = self._readable(scope)
        places: defaultdict[str, dict[str, ListRank]] = defaultdict(dict)
        for number, query in enumerate(queries):
            if mode != "keyword":
                scores = {key: float(np.dot(query.vector, vector)) for key, (_, vector) in chunks.items()}
                _rank(f"dense:{number}", scores, places)
            if mode != "semantic":
                scores = {key: overlap(query.text, chunk.text) for key, (chunk, _) in chunks.items()}
                _rank(f"bm25:{number}", {key: score for key, score in scores.items() if score}, places)
        hits = [
            Hit(chunks[key][0], sum(1 / (RRF_K + p.rank) for p in lists.values()), lists if explain else {})
            for key, lists in places.items()
        ]
        return Hits(sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id))[:limit])

    async def passages_of(
        self, scope: Scope, document_id: str, query: QueryText, *, limit: int
    ) -> list[Hit]:
        hits = [
            Hit(chunk, float(np.dot(query.vector, vector)))
            for chunk, vector in self._readable(scope).values()
            if chunk.meta.document_id == document_id and chunk.kind == "passage"
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id))[:limit]

    async def get(self, scope: Scope, chunk_ids: Sequence[str]) -> list[Chunk]:
        chunks = self._readable(scope)
        return [chunks[key][0] for key in chunk_ids if key in chunks]

    async def neighbours(self, scope: Scope, chunk: Chunk, *, radius: int = 1) -> list[Chunk]:
        near = [
            other
            for other, _ in self._readable(scope).values()
            if other.meta.version_id == chunk.meta.version_id
            and other.kind == "passage"
            and abs(other.ordinal - chunk.ordinal) <= radius
        ]
        return sorted(near, key=lambda other: other.ordinal)

    async def languages(self, scope: Scope) -> frozenset[str]:
        if self.error:
            raise self.error
        found = {c.language for c, _ in self._all().values() if c.meta.workspace == scope.workspace}
        return frozenset(found)

    async def versions(self, workspace: str) -> set[tuple[str, str, bool]]:
        return {
            (c.meta.document_id, c.meta.version_id, c.meta.version_id in self._published)
            for c, _ in self._chunks.values()
            if c.meta.workspace == workspace
        }

    async def stats(self) -> IndexStats:
        chunks = self._all()
        documents = {chunk.meta.document_id for chunk, _ in chunks.values()}
        return IndexStats(chunks=len(chunks), documents=len(documents))

    async def optimize(self) -> None: ...

    async def close(self) -> None: ...

    def _readable(self, scope: Scope) -> dict[str, tuple[Chunk, Vectors]]:
        if self.error:
            raise self.error
        return {key: stored for key, stored in self._live().items() if _in_scope(stored[0], scope)}

    def _all(self) -> dict[str, tuple[Chunk, Vectors]]:
        return self._chunks

    def _live(self) -> dict[str, tuple[Chunk, Vectors]]:
        """Those of published versions."""
        return {
            key: stored
            for key, stored in self._chunks.items()
            if stored[0].meta.version_id in self._published
        }

    def _drop(self, workspace: str, gone: Callable[[Chunk], bool]) -> None:
        for key, (chunk, _) in list(self._chunks.items()):
            if chunk.meta.workspace == workspace and gone(chunk):
                del self._chunks[key]


def _in_scope(chunk: Chunk, scope: Scope) -> bool:
    meta = chunk.meta
    return (
        meta.workspace == scope.workspace
        and not scope.audience.isdisjoint(meta.audience)
        and (scope.knowledge_bases is None or meta.knowledge_base in scope.knowledge_bases)
        and (scope.labels is None or not scope.labels.isdisjoint(meta.labels))
        and (scope.documents is None or meta.document_id in scope.documents)
        and (scope.uploaders is None or meta.uploader in scope.uploaders)
        and (scope.uploaded_after is None or meta.uploaded_at >= scope.uploaded_after)
        and (scope.uploaded_before is None or meta.uploaded_at <= scope.uploaded_before)
    )


def _rank(name: str, scores: dict[str, float], places: defaultdict[str, dict[str, ListRank]]) -> None:
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    for rank, key in enumerate(ordered, 1):
        places[key][name] = ListRank(rank, scores[key])
