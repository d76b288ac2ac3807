"""What both stores have in common in writing: versions staged, published, replaced and removed.

How a version is published. A point carries its workspace in the field `live` once its version is
published, and every search filters by that field. Each change of what is searchable is first worked
out as a `Change`, which versions go and which one comes, and then carried out by the store, so that a
search sees it at once (see `edge.py` and `server.py` for how), and so that it can be carried out again
after a kill: marking a marked point and deleting a deleted one do nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import abstractmethod
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from retrieval.documents import Chunk
from retrieval.index import payload as p
from retrieval.index.bm25 import Sparse, encode_passage
from retrieval.index.payload import VersionKey, payload_of
from retrieval.index.plan import check_vectors
from retrieval.index.protocol import NothingStaged, Vectors
from retrieval.index.reading import Reader
from retrieval.index.where import AnyOf, Where, one, published, staged_or_published

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


class QdrantIndex(Reader):
    """A `VectorIndex` but for `open`, `stats`, `optimize` and `close`."""

    @abstractmethod
    def _writing(self) -> AbstractAsyncContextManager[object]:
        """Held while something is written."""

    @abstractmethod
    async def _upsert(self, rows: Sequence[PointRow]) -> None: ...

    @abstractmethod
    async def _apply(self, change: Change) -> None: ...

    @abstractmethod
    async def _set_labels(self, where: Where, labels: list[str]) -> None: ...

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
