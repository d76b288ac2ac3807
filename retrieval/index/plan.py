"""What one search asks of a store, and what is made of its answer."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from retrieval.index.bm25 import Sparse, encode_query
from retrieval.index.fusion import Fusion, RankedList
from retrieval.index.payload import LANGUAGE, VERSION, Payload, VersionKey, chunk_of
from retrieval.index.protocol import Hit, Hits, ListRank, QueryText, SearchMode, Vectors
from retrieval.index.where import Where

#: Names of the two vectors of a point.
DENSE = "dense"
BM25 = "bm25"

#: Entries of each list beyond the limit that take part in the fusion: the deeper, the lower the floor of a
#: list. In `bench/fusion.py` 28 are better than 10 on most sets, and on none clearly worse. The lists of
#: several queries share them, since each entry costs time, but for `LEAST_DEEPER`.
DEEPER = 28
LEAST_DEEPER = 10
#: Entries of a single list beyond the limit. Among equal scores Qdrant cuts at random, so we cut.
SPARE = 16


@dataclass(frozen=True, slots=True)
class Ranking:
    """One list to be fused: the name it has in `Hit.lists`, the number of the query, what is searched."""

    name: str
    number: int
    query: Vectors | Sparse


@dataclass(frozen=True, slots=True)
class Plan:
    """One request: a flat list of rankings, filtered alike. Each is at most `depth` long."""

    rankings: tuple[Ranking, ...]
    where: Where
    #: The points over which document frequencies are counted.
    corpus: Where
    #: How many these are, about.
    passages: int
    depth: int


@dataclass(frozen=True, slots=True)
class Row:
    """A point of a list as the store returns it, with the fields in `payload.READ`."""

    id: str
    score: float
    payload: Payload


#: The rows of each ranking of a plan, best first.
Found = Sequence[Sequence[Row]]


def rankings_of(
    queries: Sequence[QueryText], mode: SearchMode, languages: frozenset[str]
) -> tuple[Ranking, ...]:
    """A dense and a BM25 list for each query, as the mode has it; no BM25 list where there is no term."""
    rankings: list[Ranking] = []
    for number, query in enumerate(queries):
        if mode != "keyword":
            rankings.append(Ranking(f"{DENSE}:{number}", number, query.vector))
        if mode != "semantic" and (terms := encode_query(query.text, languages)).indices:
            rankings.append(Ranking(f"{BM25}:{number}", number, terms))
    return tuple(rankings)


def plan_of(
    rankings: tuple[Ranking, ...], where: Where, corpus: Where, passages: int, *, limit: int
) -> Plan:
    queries = len({ranking.number for ranking in rankings})
    deeper = max(LEAST_DEEPER, DEEPER // max(1, queries)) if len(rankings) > 1 else SPARE
    return Plan(rankings, where, corpus, passages, limit + deeper)


def hits_of(found: Found, plan: Plan, fusion: Fusion, *, limit: int, explain: bool) -> Hits:
    """The best `limit` by (-score, id).

    Where the answer holds two versions of a document, which a server can give while another process
    publishes, only chunks of the newer one stay.
    """
    payloads = {row.id: row.payload for rows in found for row in rows}
    versions = {text: VersionKey.parse(text) for text in {each[VERSION] for each in payloads.values()}}
    newest: dict[str, VersionKey] = {}
    for version in versions.values():
        newest[version.document_id] = max(version, newest.get(version.document_id, version))
    old = {text for text, version in versions.items() if newest[version.document_id] != version}
    stays = {key for key, payload in payloads.items() if payload[VERSION] not in old}
    lists = [
        _ranked(ranking, rows, stays, plan) for ranking, rows in zip(plan.rankings, found, strict=True)
    ]
    languages = {key: str(payloads[key].get(LANGUAGE, "")) for key in stays}
    fused = fusion(lists, languages)
    best = fused.order()[:limit]
    places: dict[str, dict[str, ListRank]] = {key: {} for key in best}
    if explain:
        for each in lists:
            for rank, (key, score) in enumerate(each.entries, 1):
                if key in places:
                    places[key][each.name] = ListRank(rank, score)
    hits = [Hit(chunk_of(payloads[key]), fused.scores[key], places[key]) for key in best]
    return Hits(hits, fused.weights)


def _ranked(ranking: Ranking, rows: Sequence[Row], stays: Set[str], plan: Plan) -> RankedList:
    entries = sorted(((row.id, row.score) for row in rows if row.id in stays), key=lambda e: (-e[1], e[0]))
    terms = sum(ranking.query.values) if isinstance(ranking.query, Sparse) else None
    cut = len(rows) >= plan.depth
    return RankedList(ranking.name, ranking.number, entries, cut, terms, plan.passages or None)


def check_vectors(vectors: Vectors, shape: tuple[int, ...]) -> Vectors:
    """The vectors as float32. Raises `ValueError` for another shape, NaN or infinity."""
    checked = np.asarray(vectors, dtype=np.float32)
    if checked.shape != shape:
        raise ValueError(f"Vectors of shape {checked.shape}, but this index needs {shape}.")
    if not np.isfinite(checked).all():
        raise ValueError("A vector holds NaN or infinity; the embedding model is at fault.")
    return checked
