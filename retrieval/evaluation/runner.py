"""Runs a set's questions through the search of a turn, in each configuration, and measures the hits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from retrieval.answer.protocol import Rephraser
from retrieval.answer.question import Question
from retrieval.answer.reranking import RerankStep
from retrieval.answer.retrieve import Retrieved, Retriever
from retrieval.answer.rewriting import Rewriter
from retrieval.answer.search import Searcher
from retrieval.evaluation.dataset import Dataset, Query
from retrieval.evaluation.errors import BadSettings
from retrieval.evaluation.filling import SCOPE, WORKSPACE, fill
from retrieval.evaluation.metrics import ndcg, recall, reciprocal_rank
from retrieval.evaluation.report import Cell, Cost, SetResult
from retrieval.evaluation.settings import Settings
from retrieval.evaluation.vectors import KnownQueries, Told, query_vectors, time_query
from retrieval.index.protocol import VectorIndex
from retrieval.models.protocol import Embedder, Reranker
from retrieval.trace import ModelUse, Trace

#: Questions that are timed.
TIMED = 100
_TOLD_EVERY = 50


def _silent(_what: str, _done: int, _total: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Models:
    """What the cells search with. `rerankers` by the name that a cell's `rerank` gives."""

    embedder: Embedder
    rephraser: Rephraser
    rerankers: Mapping[str, Reranker] = field(default_factory=dict[str, Reranker])


async def run(
    data: Dataset,
    cells: Sequence[Settings],
    *,
    index: VectorIndex,
    models: Models,
    cache: Path | None = None,
    timed: int = TIMED,
    told: Told = _silent,
) -> SetResult:
    """Fill an empty index with the set and search each question in each configuration.

    Questions go one after the other through the `Retriever` that answers in a turn. All count for the
    quality; `timed` of them, spread evenly, also for the cost.

    Args:
        index: freshly opened and empty; it is filled and left so.
        cache: folder for vectors, so that a second run embeds next to nothing.
        told: called with what is done, how much of it, and of how much.
    """
    missing = {cell.rerank for cell in cells} - {"off", *models.rerankers}
    if missing:
        raise BadSettings(
            f"There is no reranker “{min(missing)}” here. Set RERANK_MODEL, or use rerank=off."
        )
    await fill(data, index=index, embedder=models.embedder, cache=cache, told=told)
    texts = list(data.queries.values())
    count = len(texts)
    sample = np.linspace(0, count - 1, min(timed, count)).astype(int).tolist()
    # Once to load it, and before the others: an embedder may remember what it has embedded.
    await models.embedder.embed_queries(["…"])
    times = {number: await time_query(models.embedder, texts[number]) for number in sample}
    vectors = await query_vectors(texts, models.embedder, cache, told)
    usage = {texts[number]: used for number, (_, used) in times.items()}
    known = KnownQueries(models.embedder, texts, vectors, usage)
    tries = [_Try(cell, index, models, known) for cell in cells]
    done = 0
    for number, query in enumerate(data.questions.values()):
        embed_ms = times[number][0] if number in times else None
        # Side by side and in turn, so that what else the machine does falls on all alike.
        first = done % len(tries)
        done += number in times
        for one in tries[first:] + tries[:first]:
            await one.ask(query, data.qrels[query.id], embed_ms=embed_ms)
        if number % _TOLD_EVERY == 0:
            told("searching", number + 1, count)
    return SetResult(name=data.name, documents=len(data.corpus), cells=[one.result() for one in tries])


class _Try:
    """One configuration while the questions go through it."""

    def __init__(self, cell: Settings, index: VectorIndex, models: Models, known: Embedder) -> None:
        self._cell = cell
        self._retriever = _retriever(cell, index, models, known)
        self._figures: dict[str, dict[str, float]] = {}
        self._times: list[float] = []
        self._uses: list[ModelUse] = []
        self._fell_back = 0

    async def ask(self, query: Query, relevant: Mapping[str, int], *, embed_ms: float | None) -> None:
        """`embed_ms`: what the question's vector takes, for a question that is timed."""
        question = _question(query, self._cell)
        trace = Trace(turn_id=query.id, workspace=WORKSPACE)
        began = time.perf_counter()
        found = await _search(self._retriever, question, trace)
        if embed_ms is not None:
            vector = embed_ms if any(step.name == "embed" for step in trace.steps) else 0.0
            self._times.append((time.perf_counter() - began) * 1000 + vector)
            self._uses += [use for step in trace.steps for use in step.models]
        self._fell_back += any(step.error or "failed" in (step.note or "") for step in trace.steps)
        self._figures[query.id] = _figures(found, relevant, self._cell.top_k)

    def result(self) -> Cell:
        return Cell(
            settings=self._cell,
            queries=self._figures,
            cost=_cost(self._times, self._uses),
            fell_back=self._fell_back,
        )


def _retriever(cell: Settings, index: VectorIndex, models: Models, embedder: Embedder) -> Retriever:
    reranker = models.rerankers.get(cell.rerank)
    return Retriever(
        Searcher(index, embedder),
        rewriter=Rewriter(models.rephraser) if cell.rephrase else None,
        reranker=RerankStep(reranker) if reranker else None,
    )


def _question(query: Query, cell: Settings) -> Question:
    return Question(
        turn_id=query.id, scope=SCOPE, text=query.text, history=query.history, options=cell.options()
    )


async def _search(retriever: Retriever, question: Question, trace: Trace) -> list[str]:
    """Document ids, best first, each once."""
    sources = [
        source
        async for event in retriever.retrieve(question, trace)
        if isinstance(event, Retrieved)
        for source in event.sources
    ]
    return list(dict.fromkeys(source.chunk.meta.name for source in sources))


def _figures(ranking: list[str], relevant: Mapping[str, int], top_k: int) -> dict[str, float]:
    figures = {f"recall@{k}": recall(ranking, relevant, k) for k in sorted({5, 10, top_k})}
    return {"ndcg@10": ndcg(ranking, relevant), "mrr@10": reciprocal_rank(ranking, relevant)} | figures


def _cost(times: list[float], uses: list[ModelUse]) -> Cost:
    count = len(times)
    if not count:
        return Cost()
    prices = [use.cost for use in uses]
    known = [price for price in prices if price is not None]
    p50, p95 = np.quantile(times, [0.5, 0.95])
    return Cost(
        calls=len(uses) / count,
        input_tokens=sum(use.input_tokens for use in uses) / count,
        output_tokens=sum(use.output_tokens for use in uses) / count,
        dollars=sum(known) / count if len(known) == len(prices) else None,
        ms_p50=float(p50),
        ms_p95=float(p95),
        timed=count,
    )
