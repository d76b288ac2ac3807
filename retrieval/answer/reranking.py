"""Reranking as a step of a turn. Whatever goes wrong, the fused order stands."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

from retrieval.answer.failures import reason
from retrieval.answer.search import described
from retrieval.index.protocol import Hit, ListRank
from retrieval.models.meter import metered
from retrieval.models.prices import cost
from retrieval.models.protocol import Ranked, Reranker
from retrieval.trace import ModelUse, Trace


class RerankStep:
    """`seconds`: how long the reranker may take."""

    def __init__(self, reranker: Reranker, *, seconds: float = 5.0) -> None:
        self._reranker = reranker
        self._seconds = seconds

    async def order(self, query: str, hits: Sequence[Hit], *, threshold: float, trace: Trace) -> list[Hit]:
        """`hits` by the reranker's score, those below `threshold` left out; it may leave none."""
        passages = [hit.chunk.context() for hit in hits]
        name = self._reranker.name
        with trace.step("rerank", query=query, passages=len(passages), threshold=threshold) as step:
            try:
                with metered() as meter:
                    async with asyncio.timeout(self._seconds):
                        ranked = await self._reranker.rerank(query, passages, limit=len(passages))
            except Exception as error:
                step.note = f"The reranker failed ({reason(error)}): the fused order stands."
                return list(hits)
            usage = meter.usage
            use = ModelUse(
                role="rerank", model=name, input_tokens=usage.input_tokens, cost=cost(name, usage)
            )
            step.models.append(use)
            valid = _valid(ranked, len(hits))
            if not valid:
                step.note = "The reranker gave no usable scores: the fused order stands."
                return list(hits)
            ordered = [
                replace(
                    hits[r.index],
                    score=r.score,
                    lists=hits[r.index].lists | {"rerank": ListRank(n, r.score)},
                )
                for n, r in enumerate(valid, 1)
            ]
            kept = [hit for hit in ordered if hit.score >= threshold]
            step.outputs = {"hits": [described(hit) for hit in ordered], "kept": len(kept)}
            return kept


def _valid(ranked: Sequence[Ranked], count: int) -> list[Ranked]:
    """Best first, each passage once, without places and scores that make no sense."""
    best: dict[int, Ranked] = {}
    for one in sorted(ranked, key=lambda r: (-r.score if math.isfinite(r.score) else math.inf, r.index)):
        if 0 <= one.index < count and math.isfinite(one.score):
            best.setdefault(one.index, one)
    return list(best.values())
