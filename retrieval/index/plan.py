"""What one search asks of a store, and what is made of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from retrieval.index.bm25 import Sparse, encode_query
from retrieval.index.payload import VERSION, Payload, VersionKey, chunk_of
from retrieval.index.protocol import RRF_K, Hit, ListRank, QueryText, SearchMode, Vectors
from retrieval.index.where import Where

#: Names of the two vectors of a point.
DENSE = "dense"
BM25 = "bm25"

#: Qdrant scores 1/(k - 1 + rank) with ranks from 1, so this k gives 1/(60 + rank).
QDRANT_RRF_K = RRF_K + 1

#: Entries of each list beyond the limit that take part in the fusion. Few: with k = 60 a passage that
#: is far down in two lists beats one that leads a single list. On seven public sets nDCG@10 was better
#: with lists of 20 than with lists of 100 on each (on one by .02), and recall@36 no worse with 46.
DEEPER = 10
#: Fused hits asked for beyond the limit. Among equal scores Qdrant cuts at random, so we cut.
SPARE = 16


@dataclass(frozen=True, slots=True)
class Ranking:
    """One list to be fused: the name it has in `Hit.lists`, and what is searched."""

    name: str
    query: Vectors | Sparse


@dataclass(frozen=True, slots=True)
class Plan:
    """One request: a flat list of rankings, filtered alike, fused by reciprocal rank."""

    rankings: tuple[Ranking, ...]
    where: Where
    #: The points over which document frequencies are counted.
    corpus: Where
    depth: int
    fetch: int
    explain: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A fused point as the store returns it."""

    id: str
    score: float
    payload: Payload


@dataclass(frozen=True, slots=True)
class Found:
    """`lists` has (id, score) pairs for each ranking, best first; it is empty unless asked for."""

    rows: Sequence[Row]
    lists: Sequence[Sequence[tuple[str, float]]] = field(default_factory=list[Sequence[tuple[str, float]]])


def rankings_of(
    queries: Sequence[QueryText], mode: SearchMode, languages: frozenset[str]
) -> tuple[Ranking, ...]:
    """A dense and a BM25 list for each query, as the mode has it; no BM25 list where there is no term."""
    rankings: list[Ranking] = []
    for number, query in enumerate(queries):
        if mode != "keyword":
            rankings.append(Ranking(f"{DENSE}:{number}", query.vector))
        if mode != "semantic" and (terms := encode_query(query.text, languages)).indices:
            rankings.append(Ranking(f"{BM25}:{number}", terms))
    return tuple(rankings)


def plan_of(
    rankings: tuple[Ranking, ...], where: Where, corpus: Where, *, limit: int, explain: bool
) -> Plan:
    fetch = limit + SPARE
    depth = limit + DEEPER if len(rankings) > 1 else fetch
    return Plan(rankings, where, corpus, depth, fetch, explain)


def hits_of(found: Found, plan: Plan, limit: int) -> list[Hit]:
    """The best `limit` by (-score, id).

    Where the answer holds two versions of a document, which a server can give while another process
    publishes, only chunks of the newer one stay.
    """
    versions = [VersionKey.parse(row.payload[VERSION]) for row in found.rows]
    newest: dict[str, VersionKey] = {}
    for version in versions:
        newest[version.document_id] = max(version, newest.get(version.document_id, version))
    rows = [
        row
        for row, version in zip(found.rows, versions, strict=True)
        if newest[version.document_id] == version
    ]
    # Sums of the same terms in another order differ in the last digits.
    rows.sort(key=lambda row: (-round(row.score, 7), row.id))
    ranks: dict[str, dict[str, ListRank]] = {row.id: {} for row in rows[:limit]}
    for ranking, entries in zip(plan.rankings, found.lists, strict=False):
        for rank, (point, score) in enumerate(entries, 1):
            if point in ranks:
                ranks[point][ranking.name] = ListRank(rank, score)
    return [Hit(chunk_of(row.payload), row.score, ranks[row.id]) for row in rows[:limit]]


def check_vectors(vectors: Vectors, shape: tuple[int, ...]) -> Vectors:
    """The vectors as float32. Raises `ValueError` for another shape, NaN or infinity."""
    checked = np.asarray(vectors, dtype=np.float32)
    if checked.shape != shape:
        raise ValueError(f"Vectors of shape {checked.shape}, but this index needs {shape}.")
    if not np.isfinite(checked).all():
        raise ValueError("A vector holds NaN or infinity; the embedding model is at fault.")
    return checked
