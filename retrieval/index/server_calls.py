"""Calls to a Qdrant server: timeouts and bounded retries, and the translation of our requests."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from json import JSONDecodeError
from typing import TypeVar

import stamina
from pydantic import ValidationError
from qdrant_client import models as m
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.conversions.common_types import QueryResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from retrieval.index.base import PointRow
from retrieval.index.bm25 import Sparse
from retrieval.index.payload import READ
from retrieval.index.plan import BM25, DENSE, Found, Plan, Ranking, Row
from retrieval.index.protocol import IndexUnavailable
from retrieval.index.where import AnyOf, Condition, Where

T = TypeVar("T")

#: Attempts of one call, and seconds for one attempt and for all of them.
ATTEMPTS = 4
ATTEMPT_TIMEOUT = 15.0
TIMEOUT = 40.0
_LONGEST_RETRY_AFTER = 20.0
_NO_ANSWER = "What came back is not an answer of Qdrant; check QDRANT_URL, or what lies between."
#: What qdrant-client raises for an answer that is not JSON, or lacks its result.
_MALFORMED = (JSONDecodeError, AssertionError)
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


async def call(request: Callable[[], Awaitable[T]]) -> T:
    """The answer to a request that may be repeated. Raises `IndexUnavailable`, without document text."""
    try:
        async for attempt in stamina.retry_context(
            on=_again, attempts=ATTEMPTS, timeout=TIMEOUT, wait_initial=0.1, wait_max=3.0, wait_jitter=0.2
        ):
            with attempt:
                async with asyncio.timeout(ATTEMPT_TIMEOUT):
                    return await request()
    except QdrantException:  # told to wait longer than we do, or for a time that is no number
        raise IndexUnavailable("The Qdrant server is overloaded; try again later.") from None
    except UnexpectedResponse as error:
        raise IndexUnavailable(_refusal(error)) from None
    except ResponseHandlingException as error:
        if isinstance(error.source, ValidationError):
            raise IndexUnavailable(_NO_ANSWER) from None
        reason = type(error.source).__name__
        raise IndexUnavailable(f"The Qdrant server can't be reached ({reason}).") from None
    except _MALFORMED:
        raise IndexUnavailable(_NO_ANSWER) from None
    except TimeoutError:
        raise IndexUnavailable("The Qdrant server did not answer in time.") from None
    raise AssertionError("a retry loop ends with an answer or an error")


def _again(error: Exception) -> bool | float:
    if isinstance(error, ResourceExhaustedResponse):
        return float(error.retry_after_s) if error.retry_after_s <= _LONGEST_RETRY_AFTER else False
    if isinstance(error, UnexpectedResponse):
        return error.status_code in _PASSING
    return isinstance(error, (ResponseHandlingException, TimeoutError, *_MALFORMED))


def _refusal(error: UnexpectedResponse) -> str:
    if error.status_code in (401, 403):
        return "The Qdrant server refused the key; check QDRANT_API_KEY."
    if error.status_code == 404:
        return "The collection is gone from the Qdrant server; if it was rebuilt, restart this process."
    return f"The Qdrant server answered with status {error.status_code}."


def requests_of(plan: Plan) -> list[m.QueryRequest]:
    """One a list."""
    where = filter_of(plan.where)
    corpus = m.SearchParams(idf=m.IdfCorpusParams(corpus=filter_of(plan.corpus)))
    requests: list[m.QueryRequest] = []
    for ranking in plan.rankings:
        query, using = _query_of(ranking)
        params = corpus if isinstance(ranking.query, Sparse) else None
        requests.append(
            m.QueryRequest(
                query=query,
                using=using,
                filter=where,
                params=params,
                limit=plan.depth,
                with_payload=list(READ),
            )
        )
    return requests


def found_of(answers: Sequence[QueryResponse]) -> Found:
    return [
        [Row(str(point.id), point.score, point.payload or {}) for point in answer.points]
        for answer in answers
    ]


def _query_of(ranking: Ranking) -> tuple[m.NearestQuery, str]:
    if isinstance(ranking.query, Sparse):
        return m.NearestQuery(nearest=_sparse(ranking.query)), BM25
    return m.NearestQuery(nearest=ranking.query.tolist()), DENSE


def _sparse(terms: Sparse) -> m.SparseVector:
    return m.SparseVector(indices=terms.indices, values=terms.values)


def point_of(row: PointRow) -> m.PointStruct:
    vector: dict[str, list[float] | m.SparseVector] = {DENSE: row.vector.tolist()}
    if row.terms.indices:
        vector[BM25] = _sparse(row.terms)
    return m.PointStruct(id=row.id, vector=dict(vector), payload=row.payload)


def filter_of(where: Where, ids: Sequence[str] | None = None) -> m.Filter:
    must: list[m.Condition] = [_condition(condition) for condition in where.must]
    if ids is not None:
        must.append(m.HasIdCondition(has_id=[uuid.UUID(i) for i in ids]))
    without: list[m.Condition] = [_condition(condition) for condition in where.without]
    return m.Filter(must=must, must_not=without or None)


def _condition(condition: Condition) -> m.FieldCondition:
    if isinstance(condition, AnyOf):
        values = list(condition.values)
        match = m.MatchValue(value=values[0]) if len(values) == 1 else m.MatchAny(any=values)
        return m.FieldCondition(key=condition.key, match=match)
    return m.FieldCondition(key=condition.key, range=m.Range(gte=condition.least, lt=condition.below))
