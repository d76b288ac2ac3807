"""Qdrant Edge behind one thread, and the translation of our requests into its own."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import qdrant_edge as qe

from retrieval.index import payload as p
from retrieval.index.base import PointRow
from retrieval.index.bm25 import Sparse
from retrieval.index.plan import BM25, DENSE, Found, Plan, Ranking, Row
from retrieval.index.protocol import IndexMismatch, IndexUnavailable
from retrieval.index.where import AnyOf, Condition, Where

T = TypeVar("T")

_ALL = 10_000_000


class EdgeThread:
    """Runs calls one after another, in the order in which they were handed over.

    Qdrant Edge holds the interpreter's lock during a call, so more threads would gain nothing; what
    helps the event loop is that each call is short.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="qdrant-edge")

    async def run(self, call: Callable[..., T], *args: Any) -> T:
        """Raises `IndexUnavailable` for any failure of the store; `ValueError` passes."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, _guarded, call, args)

    def stop(self) -> None:
        self._pool.shutdown(wait=False)


def _guarded(call: Callable[..., T], args: tuple[Any, ...]) -> T:
    try:
        return call(*args)
    except (ValueError, IndexMismatch, IndexUnavailable):
        raise
    except Exception as error:
        raise IndexUnavailable(f"The embedded index failed: {error}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what a failed assertion in Rust raises
            raise
        raise IndexUnavailable(f"The embedded index failed: {error}") from error


def open_shard(path: Path, dimension: int) -> qe.EdgeShard:
    """Load the shard, or create it. Raises `IndexUnavailable` while another process has it open."""
    if not path.exists():
        _create(path, dimension)
    try:
        return qe.EdgeShard.load(str(path))
    except Exception as error:
        if "WouldBlock" not in str(error):
            raise
        raise IndexUnavailable(
            f"The index in {path.parent} is in use by another process. Stop that one first."
        ) from error


def _create(path: Path, dimension: int) -> None:
    """Under another name until it is complete, so that a killed process leaves no half of one."""
    draft = path.with_name(path.name + ".new")
    shutil.rmtree(draft, ignore_errors=True)
    shard = qe.EdgeShard.create(str(draft), _config(dimension))
    for field in p.KEYWORDS:
        shard.update(qe.UpdateOperation.create_field_index(field, qe.PayloadSchemaType.Keyword))
    shard.update(qe.UpdateOperation.create_field_index(p.UPLOADED, qe.PayloadSchemaType.Integer))
    shard.flush()
    shard.close()
    draft.rename(path)


def _config(dimension: int) -> qe.EdgeConfig:
    return qe.EdgeConfig(
        vectors={DENSE: qe.EdgeVectorParams(size=dimension, distance=qe.Distance.Cosine)},
        sparse_vectors={BM25: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)},
    )


def query(shard: qe.EdgeShard, plan: Plan) -> Found:
    """Each list by itself."""
    where = filter_of(plan.where)
    corpus = qe.SearchParams(idf=qe.IdfParams(corpus=filter_of(plan.corpus)))
    fields = qe.PayloadSelector.Include(list(p.READ))
    requests = [
        qe.QueryRequest(
            limit=plan.depth,
            query=_nearest(ranking),
            filter=where,
            params=corpus if isinstance(ranking.query, Sparse) else None,
            with_payload=fields,
        )
        for ranking in plan.rankings
    ]
    return [
        [Row(str(point.id), point.score, point.payload or {}) for point in points]
        for points in shard.query_batch(qe.QueryBatchRequest(requests))
    ]


def _nearest(ranking: Ranking) -> qe.Query:
    if isinstance(ranking.query, Sparse):
        terms = qe.SparseVector(ranking.query.indices, ranking.query.values)
        return qe.Query.Nearest(terms, using=BM25)
    return qe.Query.Nearest(ranking.query.tolist(), using=DENSE)


def set_payload(shard: qe.EdgeShard, ids: Sequence[str], fields: dict[str, Any]) -> None:
    shard.update(qe.UpdateOperation.set_payload(list(ids), fields))


def delete(shard: qe.EdgeShard, ids: Sequence[str]) -> None:
    shard.update(qe.UpdateOperation.delete_points(list(ids)))


def upsert(shard: qe.EdgeShard, rows: Sequence[PointRow]) -> None:
    points: list[qe.Point] = []
    for row in rows:
        vector: dict[str, Any] = {DENSE: row.vector.tolist()}
        if row.terms.indices:
            vector[BM25] = qe.SparseVector(row.terms.indices, row.terms.values)
        points.append(qe.Point(row.id, vector, row.payload))
    shard.update(qe.UpdateOperation.upsert_points(points))


def facet(shard: qe.EdgeShard, key: str, where: Where) -> dict[str, int]:
    request = qe.FacetRequest(key, limit=_ALL, exact=True, filter=filter_of(where))
    return {str(hit.value): hit.count for hit in shard.facet(request).hits}


def ids_of(shard: qe.EdgeShard, where: Where) -> list[str]:
    """Ids of all points that pass the filter."""
    records, _ = shard.scroll(
        qe.ScrollRequest(limit=_ALL, filter=filter_of(where), with_payload=False, with_vector=False)
    )
    return [str(record.id) for record in records]


def payloads(shard: qe.EdgeShard, ids: Sequence[str], where: Where) -> list[dict[str, Any]]:
    chosen = filter_of(where, ids)
    records, _ = shard.scroll(
        qe.ScrollRequest(
            limit=len(ids), filter=chosen, with_payload=qe.PayloadSelector.Include(list(p.READ))
        )
    )
    return [record.payload or {} for record in records]


def filter_of(where: Where, ids: Sequence[str] | None = None) -> qe.Filter:
    must: list[Any] = [_condition(condition) for condition in where.must]
    if ids is not None:
        must.append(qe.HasIdCondition(set(ids)))
    return qe.Filter(must=must, must_not=[_condition(condition) for condition in where.without])


def _condition(condition: Condition) -> qe.FieldCondition:
    if isinstance(condition, AnyOf):
        values = list(condition.values)  # one value by itself is found in half the time
        match = qe.MatchValue(values[0]) if len(values) == 1 else qe.MatchAny(values)
        return qe.FieldCondition(condition.key, match=match)
    return qe.FieldCondition(condition.key, range=qe.RangeFloat(gte=condition.least, lt=condition.below))
