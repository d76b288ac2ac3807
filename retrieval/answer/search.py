"""Search as a step of a turn: one batch of embeddings, one request to the index, real passages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from retrieval.answer.confidence import confidence
from retrieval.answer.failures import reason
from retrieval.answer.passages import with_quota
from retrieval.answer.question import Question
from retrieval.answer.streams import together
from retrieval.index.protocol import (
    Hit,
    Hits,
    IndexUnavailable,
    ListRank,
    QueryText,
    SearchMode,
    VectorIndex,
)
from retrieval.models.meter import metered
from retrieval.models.prices import cost
from retrieval.models.protocol import Embedder
from retrieval.scope import Scope
from retrieval.trace import ModelUse, Trace

T = TypeVar("T")

#: How many times as many passages are retrieved when a reranker chooses among them.
OVER_RETRIEVAL = 3
#: Documents found by their summary whose passages are looked up, and passages of each.
MAX_SUMMARIES = 4
PASSAGES_PER_SUMMARY = 2


@dataclass(frozen=True, slots=True)
class Found:
    """Passages, best first, and how sure the search looks (`confidence`); None where that can't be told."""

    hits: list[Hit]
    confidence: float | None


class Searcher:
    """Times are seconds, and a last resort: embedder and index have their own."""

    def __init__(
        self,
        index: VectorIndex,
        embedder: Embedder,
        *,
        embed_seconds: float = 30.0,
        search_seconds: float = 15.0,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._embed_seconds = embed_seconds
        self._search_seconds = search_seconds

    async def find(
        self, question: Question, queries: Sequence[str], trace: Trace, *, note: str | None = None
    ) -> Found:
        """Passages for all phrasings, best first. The first query stands for the question.

        Raises `IndexUnavailable`, or what the embedder raises where only vectors were to be searched.
        """
        options = question.options
        limit = options.passages_retrieved * (OVER_RETRIEVAL if options.rerank else 1)
        texts, mode = await self._embed(queries, options.mode, trace)
        with trace.step("search", queries=list(queries), mode=mode, limit=limit) as step:
            step.note = note
            look_up = partial(self._index.search, queries=texts, limit=limit, mode=mode)
            found = await together(self._timed(partial(look_up, scope)) for scope in question.scopes)
            step.outputs["hits"] = [described(hit) for hits in found for hit in hits]
            step.outputs["lists"] = [weights_of(hits) for hits in found]
        sure = [one for one in map(confidence, found) if one is not None]
        passages = await together(
            self._passages(scope, hits, texts[0], trace)
            for scope, hits in zip(question.scopes, found, strict=True)
        )
        merged = {hit.chunk.chunk_id: hit for hits in reversed(passages) for hit in hits}
        # Stable: within equal scores the order of the index, and of the passages of a summary, stays.
        ordered = sorted(merged.values(), key=lambda hit: -hit.score)
        if question.attachments is not None:
            # Scores of two searches don't compare well, so neither may push the other out.
            least, most = question.attachment_places(limit)
            ordered = with_quota(ordered, limit=limit, least=least, most=most)
        return Found(ordered[:limit], max(sure, default=None))

    async def _embed(
        self, queries: Sequence[str], mode: SearchMode, trace: Trace
    ) -> tuple[list[QueryText], SearchMode]:
        """Without an embedder a hybrid search goes on by keywords."""
        if mode != "keyword":
            with trace.step("embed", texts=len(queries)) as step, metered() as meter:
                try:
                    async with asyncio.timeout(self._embed_seconds):
                        vectors = await self._embedder.embed_queries(queries)
                except Exception as error:
                    if mode == "semantic":
                        raise
                    step.note = f"The embedding model failed ({reason(error)}): searched by keywords only."
                else:
                    usage, name = meter.usage, self._embedder.name
                    use = ModelUse(role="embedding", model=name, input_tokens=usage.input_tokens)
                    step.models.append(use.model_copy(update={"cost": cost(name, usage)}))
                    return [QueryText(text, row) for text, row in zip(queries, vectors, strict=True)], mode
        nothing = np.zeros(self._embedder.fingerprint.dimension, dtype=np.float32)
        return [QueryText(text, nothing) for text in queries], "keyword"

    async def _passages(
        self, scope: Scope, hits: Sequence[Hit], query: QueryText, trace: Trace
    ) -> list[Hit]:
        """`hits` with the best passages of a document in the place of its summary."""
        summaries = [hit for hit in hits if hit.chunk.kind == "summary"][:MAX_SUMMARIES]
        if not summaries:
            return list(hits)
        documents = [hit.chunk.meta.document_id for hit in summaries]
        with trace.step("passages of summaries", documents=documents) as step:
            look_up = partial(self._index.passages_of, scope, query=query, limit=PASSAGES_PER_SUMMARY)
            found = await together(self._timed(partial(look_up, document)) for document in documents)
            step.outputs["hits"] = [described(hit) for hits in found for hit in hits]
        by_document = dict(zip(documents, found, strict=True))
        placed: dict[str, Hit] = {}
        for rank, hit in enumerate(hits, 1):
            if hit.chunk.kind == "passage":
                placed.setdefault(hit.chunk.chunk_id, hit)
                continue
            for passage in by_document.pop(hit.chunk.meta.document_id, ()):
                if passage.chunk.kind == "passage":
                    lists = passage.lists | {"summary": ListRank(rank, hit.score)}
                    placed.setdefault(
                        passage.chunk.chunk_id, replace(passage, score=hit.score, lists=lists)
                    )
        return list(placed.values())

    async def _timed(self, work: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._search_seconds):
                return await work()
        except TimeoutError as error:
            raise IndexUnavailable(f"No answer within {self._search_seconds:g} s.") from error


def weights_of(hits: Hits) -> dict[str, Any]:
    """How the lists of a search were weighed, for the trace."""
    return {
        each.name: {
            "weight": round(each.weight, 3),
            "found": each.found,
            "in another language": each.other_language,
        }
        for each in hits.weights
    }


def described(hit: Hit) -> dict[str, Any]:
    """A hit for the trace: by its ids, so that no text outlives its document."""
    chunk = hit.chunk
    return {
        "chunk": chunk.chunk_id,
        "document": chunk.meta.document_id,
        "name": chunk.meta.name,
        "ordinal": chunk.ordinal,
        "kind": chunk.kind,
        "score": round(hit.score, 6),
        "lists": {name: [place.rank, round(place.score, 6)] for name, place in hit.lists.items()},
    }
