"""The index on a Qdrant server, which several processes may read and write.

How a search sees a change at once. A version is marked as live and the versions that it replaces are
deleted by one request, so a process that is killed has sent both or neither, and the server finishes
what it has received. A search of another process that falls between the two may be given chunks of both
versions; then only those of the newer one are kept (`plan.hits_of`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from qdrant_client import AsyncQdrantClient
from qdrant_client import models as m

from retrieval.index import payload as p
from retrieval.index.about import about_of, check_about
from retrieval.index.base import Change, PointRow, QdrantIndex
from retrieval.index.fusion import Fusion, by_score
from retrieval.index.payload import Payload
from retrieval.index.plan import BM25, DENSE, Found, Plan
from retrieval.index.protocol import Fingerprint, IndexStats, IndexUnavailable
from retrieval.index.server_calls import call, filter_of, found_of, point_of, requests_of
from retrieval.index.where import AnyOf, Where, one

#: The first version that counts document frequencies within a filter (`IdfParams.corpus`); collection
#: metadata are older (1.16).
NEEDED_VERSION = (1, 19, 0)
#: Key of what we keep in the metadata of a collection.
ABOUT = "footnote"
_ALL = 1_000_000


class ServerIndex(QdrantIndex):
    """A `VectorIndex` in one collection. The client stays the caller's; its own timeout applies too."""

    languages_ttl = 30.0  # other processes write, too

    def __init__(self, client: AsyncQdrantClient, collection: str, fusion: Fusion = by_score) -> None:
        super().__init__(fusion)
        self.client = client
        self.collection = collection

    async def open(self, fingerprint: Fingerprint) -> None:
        """Also raises `IndexUnavailable` for a server that is too old, or a collection that isn't ours."""
        await check_server(self.client)
        if not await call(lambda: self.client.collection_exists(self.collection)):
            try:
                await self._create(fingerprint)
            except IndexUnavailable:
                # Another process may have been faster, which is as good.
                if not await call(lambda: self.client.collection_exists(self.collection)):
                    raise
        info = await call(lambda: self.client.get_collection(self.collection))
        about = (info.config.metadata or {}).get(ABOUT)
        if about is None:
            raise IndexUnavailable(
                f"The collection {self.collection} on the Qdrant server was not made by Footnote. "
                "Choose another name in QDRANT_COLLECTION."
            )
        check_about(about, fingerprint)
        for field, schema in _field_indexes().items():
            if field not in info.payload_schema:
                await call(
                    lambda field=field, schema=schema: self.client.create_payload_index(
                        self.collection, field, field_schema=schema, wait=True
                    )
                )
        self._fingerprint = fingerprint

    async def _create(self, fingerprint: Fingerprint) -> None:
        await call(
            lambda: self.client.create_collection(
                self.collection,
                vectors_config={
                    DENSE: m.VectorParams(size=fingerprint.dimension, distance=m.Distance.COSINE)
                },
                sparse_vectors_config={BM25: m.SparseVectorParams(modifier=m.Modifier.IDF)},
                metadata={ABOUT: about_of(fingerprint)},
            )
        )

    async def stats(self) -> IndexStats:
        info = await call(lambda: self.client.get_collection(self.collection))
        points = (await call(lambda: self.client.count(self.collection, exact=True))).count
        documents = await self._facet(p.DOCUMENT, Where(()))
        return IndexStats(points, len(documents), info.segments_count)

    async def optimize(self) -> None:
        """Nothing to do: a server optimises by itself."""

    async def close(self) -> None:
        """The client is closed by whoever made it."""

    # -- primitives --------------------------------------------------------------------------

    def _writing(self) -> AbstractAsyncContextManager[object]:
        return contextlib.nullcontext()

    def _hidden(self) -> tuple[AnyOf, ...]:
        return ()

    async def _query(self, plan: Plan) -> Found:
        requests = requests_of(plan)
        return found_of(await call(lambda: self.client.query_batch_points(self.collection, requests)))

    async def _facet(self, key: str, where: Where) -> dict[str, int]:
        answer = await call(
            lambda: self.client.facet(
                self.collection, key, facet_filter=filter_of(where), limit=_ALL, exact=True
            )
        )
        return {str(hit.value): hit.count for hit in answer.hits}

    async def _fetch(self, ids: Sequence[str], where: Where) -> list[Payload]:
        chosen = filter_of(where, ids)
        records, _ = await call(
            lambda: self.client.scroll(
                self.collection, scroll_filter=chosen, limit=len(ids), with_payload=list(p.READ)
            )
        )
        return [record.payload or {} for record in records]

    async def _upsert(self, rows: Sequence[PointRow]) -> None:
        points = [point_of(row) for row in rows]
        await call(lambda: self.client.upsert(self.collection, points, wait=True))

    async def _set_labels(self, where: Where, labels: list[str]) -> None:
        await call(
            lambda: self.client.set_payload(
                self.collection, {p.LABELS: labels}, filter_of(where), wait=True
            )
        )

    async def _apply(self, change: Change) -> None:
        operations: list[m.UpdateOperation] = []
        if change.show is not None:
            shown = filter_of(Where((one(p.VERSION, change.show.dump()),)))
            mark = m.SetPayload(payload={p.LIVE: change.workspace}, filter=shown)
            operations.append(m.SetPayloadOperation(set_payload=mark))
        if change.remove is not None:
            gone = m.FilterSelector(filter=filter_of(Where((change.remove,))))
            operations.append(m.DeleteOperation(delete=gone))
        await call(lambda: self.client.batch_update_points(self.collection, operations, wait=True))


async def check_server(client: AsyncQdrantClient) -> None:
    """Raises `IndexUnavailable` where the server can't be reached or is too old."""
    version = (await call(client.info)).version
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    if numbers < NEEDED_VERSION:
        needed = ".".join(map(str, NEEDED_VERSION))
        raise IndexUnavailable(
            f"The Qdrant server has version {version}, but Footnote needs {needed} or later, "
            "which counts word frequencies within one workspace. Update the server."
        )


def _field_indexes() -> dict[str, m.PayloadSchemaType | m.KeywordIndexParams]:
    """Points of one workspace lie together, since every search is for one."""
    fields: dict[str, m.PayloadSchemaType | m.KeywordIndexParams] = {}
    fields.update(dict.fromkeys(p.KEYWORDS, m.PayloadSchemaType.KEYWORD))
    fields[p.LIVE] = m.KeywordIndexParams(type=m.KeywordIndexType.KEYWORD, is_tenant=True)
    fields[p.UPLOADED] = m.PayloadSchemaType.INTEGER
    return fields
