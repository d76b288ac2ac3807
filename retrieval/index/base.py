"""What both stores have in common: the meaning of every call.

How a version is published. A point carries its workspace in the field `live` once its version is
published, and every search filters by that field. Each change of what is searchable is first worked
out as a `Change`, which versions go and which one comes, and then carried out by the store, so that a
search sees it at once (see `edge.py` and `server.py` for how), and so that it can be carried out again
after a kill: marking a marked point and deleting a deleted one do nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar
from uuid import UUID

from retrieval.documents import Chunk, chunk_id
from retrieval.index import payload as p
from retrieval.index.bm25 import Sparse, encode_passage
from retrieval.index.payload import Payload, VersionKey, chunk_of, payload_of
from retrieval.index.plan import Found, Plan, check_vectors, hits_of, plan_of, rankings_of
from retrieval.index.protocol import Fingerprint, Hit, NothingStaged, QueryText, SearchMode, Vectors
from retrieval.index.where import AnyOf, Condition, Where, in_scope, one, published, staged_or_published
from retrieval.scope import Scope

T = TypeVar("T")

#: Points written or deleted in one call. An embedded call holds the interpreter for about 5 ms then.
BATCH = 64


@dataclass(frozen=True, slots=True)
class PointRow:
    """A point to be written. `terms` may be empty."""

    id: str
    vector: Vectors
    terms: Sparse
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """Show one version, remove those points; either may be missing."""

    workspace: str
    show: VersionKey | None
    remove: AnyOf | None


class QdrantIndex(ABC):
    """A `VectorIndex` but for `open`, `stats`, `optimize` and `close`, on a store's few primitives."""

    #: Seconds for which the languages of a workspace are remembered.
    languages_ttl: float

    def __init__(self) -> None:
        self._fingerprint: Fingerprint | None = None
        self._languages: dict[str, tuple[float, frozenset[str]]] = {}
        self._changes = 0

    # -- primitives of a store ---------------------------------------------------------------

    @abstractmethod
    def _writing(self) -> AbstractAsyncContextManager[object]:
        """Held while something is written."""

    @abstractmethod
    def _hidden(self) -> tuple[AnyOf, ...]:
        """Points that no reader may see now, though they are marked as live."""

    @abstractmethod
    async def _query(self, plan: Plan) -> Found: ...

    @abstractmethod
    async def _facet(self, key: str, where: Where) -> dict[str, int]:
        """Every value of a field with the number of its points."""

    @abstractmethod
    async def _fetch(self, ids: Sequence[str], where: Where) -> list[Payload]:
        """Payloads of those of the points that pass the filter, in any order."""

    @abstractmethod
    async def _upsert(self, rows: Sequence[PointRow]) -> None: ...

    @abstractmethod
    async def _apply(self, change: Change) -> None: ...

    @abstractmethod
    async def _set_labels(self, where: Where, labels: list[str]) -> None: ...

    # -- writing -----------------------------------------------------------------------------

    async def stage(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        vectors = check_vectors(vectors, (len(chunks), self._dimension()))
        for start in range(0, len(chunks), BATCH):
            batch = chunks[start : start + BATCH]
            terms = await asyncio.to_thread(_terms, batch)
            await self._stage(batch, vectors[start : start + BATCH], terms)

    async def _stage(self, chunks: Sequence[Chunk], vectors: Vectors, terms: list[Sparse]) -> None:
        async with self._writing():
            live: set[VersionKey] = set()
            for version, _ in groupby(chunks, key=lambda chunk: VersionKey.of(chunk.meta)):
                # Staging what is published already, after a kill, must not take it from the searchers.
                if await self._facet(p.VERSION, published(version.workspace).also(_is(version))):
                    live.add(version)
            await self._upsert(
                [
                    PointRow(
                        chunk.chunk_id,
                        vector,
                        sparse,
                        payload_of(chunk, live=VersionKey.of(chunk.meta) in live),
                    )
                    for chunk, vector, sparse in zip(chunks, vectors, terms, strict=True)
                ]
            )

    async def publish(self, workspace: str, document_id: str, version_id: str) -> None:
        """Raises `NothingStaged` where the version has no chunk.

        Greater versions that are still being staged are left alone. Where a greater one is published,
        this one came too late and is removed.
        """
        async with self._writing():
            document = one(p.DOCUMENT, document_id)
            known = await self._versions(staged_or_published(workspace, document))
            this = next((version for version in known if version.version_id == version_id), None)
            if this is None:
                raise NothingStaged(document_id, version_id)
            live = await self._versions(published(workspace).also(document))
            if any(version > this for version in live):
                await self._change(Change(workspace, None, _any_of([this])))
            else:
                older = [version for version in known if version < this]
                await self._change(Change(workspace, this, _any_of(older)))

    async def discard(self, workspace: str, version_id: str) -> None:
        """A published version is left alone."""
        async with self._writing():
            staged = Where((one(p.WORKSPACE, workspace),), (one(p.LIVE, workspace),))
            versions = [v for v in await self._versions(staged) if v.version_id == version_id]
            await self._remove(workspace, _any_of(versions))

    async def delete_document(self, workspace: str, document_id: str) -> None:
        async with self._writing():
            where = staged_or_published(workspace, one(p.DOCUMENT, document_id))
            await self._remove(workspace, _any_of(await self._versions(where)))

    async def delete_workspace(self, workspace: str) -> None:
        async with self._writing():
            await self._remove(workspace, one(p.WORKSPACE, workspace))

    async def _remove(self, workspace: str, points: AnyOf | None) -> None:
        if points is not None:
            await self._change(Change(workspace, None, points))

    async def _change(self, change: Change) -> None:
        try:
            await self._apply(change)
        finally:
            self._forget_languages(change.workspace)

    async def set_labels(self, workspace: str, document_id: str, labels: Sequence[str]) -> None:
        async with self._writing():
            where = staged_or_published(workspace, one(p.DOCUMENT, document_id))
            await self._set_labels(where, list(labels))

    # -- reading -----------------------------------------------------------------------------

    async def search(
        self,
        scope: Scope,
        queries: Sequence[QueryText],
        *,
        limit: int,
        mode: SearchMode = "hybrid",
        explain: bool = True,
    ) -> list[Hit]:
        """Raises `ValueError` for a vector of the wrong length, or with NaN in it."""
        return await self._search(scope, queries, (), limit=limit, mode=mode, explain=explain)

    async def passages_of(
        self, scope: Scope, document_id: str, query: QueryText, *, limit: int
    ) -> list[Hit]:
        of_document = (one(p.DOCUMENT, document_id), one(p.KIND, "passage"))
        return await self._search(scope, [query], of_document, limit=limit, mode="hybrid", explain=False)

    async def _search(
        self,
        scope: Scope,
        queries: Sequence[QueryText],
        narrower: tuple[Condition, ...],
        *,
        limit: int,
        mode: SearchMode,
        explain: bool,
    ) -> list[Hit]:
        if limit < 1:
            raise ValueError("The limit of a search is at least 1.")
        for query in queries:
            check_vectors(query.vector, (self._dimension(),))
        languages = await self.languages(scope) if mode != "semantic" else frozenset[str]()
        rankings = rankings_of(queries, mode, languages)
        where = in_scope(scope, self._hidden())
        if where is None or not rankings:
            return []
        corpus = published(scope.workspace)
        plan = plan_of(rankings, where.also(*narrower), corpus, limit=limit, explain=explain)
        return hits_of(await self._query(plan), plan, limit)

    async def get(self, scope: Scope, chunk_ids: Sequence[str]) -> list[Chunk]:
        where = in_scope(scope, self._hidden())
        ids = [chunk for chunk in dict.fromkeys(chunk_ids) if _is_uuid(chunk)]
        if where is None or not ids:
            return []
        chunks = [chunk_of(payload) for payload in await self._fetch(ids, where)]
        by_id = {chunk.chunk_id: chunk for chunk in chunks}
        return [by_id[chunk] for chunk in dict.fromkeys(chunk_ids) if chunk in by_id]

    async def neighbours(self, scope: Scope, chunk: Chunk, *, radius: int = 1) -> list[Chunk]:
        if chunk.kind == "summary":
            return await self.get(scope, [chunk.chunk_id])
        ordinals = range(max(0, chunk.ordinal - radius), chunk.ordinal + radius + 1)
        return await self.get(scope, [chunk_id(chunk.meta.version_id, ordinal) for ordinal in ordinals])

    async def languages(self, scope: Scope) -> frozenset[str]:
        until, known = self._languages.get(scope.workspace, (0.0, frozenset[str]()))
        if time.monotonic() < until:
            return known
        changes = self._changes
        found = frozenset(await self._facet(p.LANGUAGE, published(scope.workspace)))
        if changes == self._changes:
            self._languages[scope.workspace] = (time.monotonic() + self.languages_ttl, found)
        return found

    async def versions(self, workspace: str) -> set[tuple[str, str, bool]]:
        stored = await self._versions(staged_or_published(workspace))
        live = set(await self._versions(published(workspace)))
        return {(v.document_id, v.version_id, v in live) for v in stored}

    async def _versions(self, where: Where) -> list[VersionKey]:
        return [VersionKey.parse(text) for text in await self._facet(p.VERSION, where)]

    def _forget_languages(self, workspace: str) -> None:
        self._changes += 1
        self._languages.pop(workspace, None)

    def _dimension(self) -> int:
        if self._fingerprint is None:
            raise RuntimeError("open() the index first")
        return self._fingerprint.dimension


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """What has begun is finished before a cancellation takes effect."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        raise


def _terms(chunks: Sequence[Chunk]) -> list[Sparse]:
    return [encode_passage(chunk.context(), chunk.language) for chunk in chunks]


def _is(version: VersionKey) -> AnyOf:
    return one(p.VERSION, version.dump())


def _any_of(versions: Sequence[VersionKey]) -> AnyOf | None:
    return AnyOf(p.VERSION, tuple(sorted(v.dump() for v in versions))) if versions else None


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
