"""The embedded index: Qdrant Edge in a folder of one process, for up to about 50,000 chunks.

How a search sees a change at once. All calls go through one thread in order, so a search sees the
filter that was built when it was handed over and everything written before. While a version is being
marked as live, a few points at a time, searches leave it out by its name; then, in one step, they leave
out the versions that it replaces instead; then those are deleted, a few points at a time. So a search
waits for one small write at most, and sees the old version or the new one.

After a kill. Each call is in Qdrant's write-ahead log before it returns. A change that takes more than
one call is written down first (`pending.json`) and carried out again by `open`.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import qdrant_edge as qe

from retrieval.index import edge_optimize, edge_shard
from retrieval.index import payload as p
from retrieval.index.base import BATCH, Change, PointRow, QdrantIndex, to_the_end
from retrieval.index.edge_files import EdgeFiles
from retrieval.index.edge_shard import EdgeThread
from retrieval.index.fusion import Fusion, by_score
from retrieval.index.payload import Payload
from retrieval.index.plan import Found, Plan
from retrieval.index.protocol import Fingerprint, IndexStats, IndexUnavailable
from retrieval.index.where import AnyOf, Where, one

T = TypeVar("T")

#: Writing everything to the shard's own files holds the interpreter for a moment; until then the
#: write-ahead log grows, and with it the time that opening takes.
_FLUSH_EVERY = 5000


class EdgeIndex(QdrantIndex):
    """A `VectorIndex` in a folder. A second process that opens it gets `IndexUnavailable`."""

    languages_ttl = float("inf")  # nobody else writes here

    def __init__(self, folder: Path, fusion: Fusion = by_score) -> None:
        super().__init__(fusion)
        self.folder = folder
        self._files = EdgeFiles(folder)
        self._thread = EdgeThread()
        self._shard: qe.EdgeShard | None = None
        self._path = folder
        self._lock = asyncio.Lock()
        self._left_out: tuple[AnyOf, ...] = ()
        self._unfinished: Change | None = None
        self._unflushed = 0

    async def open(self, fingerprint: Fingerprint) -> None:
        if self._shard is not None:
            return
        self._path, self._shard = await self._thread.run(self._open, fingerprint)
        self._fingerprint = fingerprint
        self._unfinished = await asyncio.to_thread(self._files.pending)
        async with self._writing():
            pass  # which finishes what was begun

    def _open(self, fingerprint: Fingerprint) -> tuple[Path, qe.EdgeShard]:
        self._files.folder.mkdir(parents=True, exist_ok=True)
        path = self._files.shard(fingerprint)
        shard = edge_shard.open_shard(path, fingerprint.dimension)
        for left in self._files.others(path):
            shutil.rmtree(left, ignore_errors=True)
        return path, shard

    async def stats(self) -> IndexStats:
        info = await self._call(qe.EdgeShard.info)
        documents = await self._call(edge_shard.facet, p.DOCUMENT, Where(()))
        points = info.points_count
        # Counted a vector: the sparse ones are always indexed, the dense ones after `optimize`.
        dense = max(0, info.indexed_vectors_count - points)
        return IndexStats(points, len(documents), info.segments_count, max(0, points - dense))

    async def optimize(self) -> None:
        """Build the search graph over a copy, in another process, while this one answers.

        Writes wait meanwhile: about 15 s at 10,000 chunks, and over a minute at 50,000.
        """
        async with self._writing():
            await self._call(qe.EdgeShard.flush)
            self._unflushed = 0
            old, new = self._path, self._files.next_shard(self._path)
            try:
                await to_the_end(asyncio.to_thread(_copy, old, new))
                await edge_optimize.run(new)
                await to_the_end(self._thread.run(self._exchange, new))
            finally:
                unused = new if self._path == old else old
                await asyncio.to_thread(shutil.rmtree, unused, ignore_errors=True)

    def _exchange(self, new: Path) -> None:
        assert self._fingerprint is not None
        assert self._shard is not None
        successor = edge_shard.open_shard(new, self._fingerprint.dimension)
        self._files.choose(self._fingerprint, new)
        self._shard.close()
        self._path, self._shard = new, successor

    async def close(self) -> None:
        if self._shard is not None:
            async with self._lock:
                shard, self._shard = self._shard, None
                await self._thread.run(shard.close)
        self._thread.stop()

    # -- primitives --------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def _writing(self) -> AsyncGenerator[None]:
        async with self._lock:
            if self._unfinished is not None:
                unfinished = self._unfinished
                await to_the_end(self._carry_out(unfinished))
                self._forget_languages(unfinished.workspace)
            yield

    def _hidden(self) -> tuple[AnyOf, ...]:
        return self._left_out

    async def _query(self, plan: Plan) -> Found:
        return await self._call(edge_shard.query, plan)

    async def _facet(self, key: str, where: Where) -> dict[str, int]:
        return await self._call(edge_shard.facet, key, where)

    async def _fetch(self, ids: Sequence[str], where: Where) -> list[Payload]:
        return list(await self._call(edge_shard.payloads, ids, where))

    async def _upsert(self, rows: Sequence[PointRow]) -> None:
        await self._call(edge_shard.upsert, rows)
        await self._wrote(len(rows))

    async def _set_labels(self, where: Where, labels: list[str]) -> None:
        for ids in await self._batches(where):
            await self._set_payload(ids, {p.LABELS: labels})

    async def _apply(self, change: Change) -> None:
        self._unfinished = change
        await to_the_end(self._carry_out(change))

    async def _carry_out(self, change: Change) -> None:
        """If it fails half way, what is left out stays so until the next write has finished it."""
        comes: list[list[str]] = []
        if change.show is not None:
            version, live = one(p.VERSION, change.show.dump()), one(p.LIVE, change.workspace)
            comes = await self._batches(Where((version,), (live,)))
            if comes and not await self._facet(p.VERSION, Where((version, live))):
                self._left_out = (version,)
        goes = [] if change.remove is None else await self._batches(Where((change.remove,)))
        if len(comes) + len(goes) > 1:
            await asyncio.to_thread(self._files.begin, change)
        for ids in comes:
            await self._set_payload(ids, {p.LIVE: change.workspace})
        self._left_out = () if change.remove is None else (change.remove,)
        for ids in goes:
            await self._call(edge_shard.delete, ids)
            await self._wrote(len(ids))
        self._left_out = ()
        self._unfinished = None
        if len(comes) + len(goes) > 1 or self._files.has_pending():
            await asyncio.to_thread(self._files.finish)

    async def _batches(self, where: Where) -> list[list[str]]:
        ids = await self._call(edge_shard.ids_of, where)
        return [ids[start : start + BATCH] for start in range(0, len(ids), BATCH)]

    async def _set_payload(self, ids: list[str], fields: dict[str, Any]) -> None:
        await self._call(edge_shard.set_payload, ids, fields)
        await self._wrote(len(ids))

    async def _wrote(self, points: int) -> None:
        self._unflushed += points
        if self._unflushed >= _FLUSH_EVERY:
            self._unflushed = 0
            await self._call(qe.EdgeShard.flush)

    async def _call(self, call: Callable[..., T], *args: Any) -> T:
        if self._shard is None:
            raise IndexUnavailable("The embedded index is not open.")
        return await self._thread.run(self._with_shard, call, *args)

    def _with_shard(self, call: Callable[..., T], *args: Any) -> T:
        """On the thread, so that the shard is the current one when the call's turn comes."""
        if self._shard is None:
            raise IndexUnavailable("The embedded index has been closed.")
        return call(self._shard, *args)


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
