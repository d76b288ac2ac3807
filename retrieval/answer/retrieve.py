"""From a question to the passages that are handed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from retrieval.answer.confidence import STRONG, STRONG_RERANKED
from retrieval.answer.events import Source, Status
from retrieval.answer.passages import distinct, fitting, with_quota
from retrieval.answer.protocol import Rephrased
from retrieval.answer.queries import plan_queries
from retrieval.answer.question import Question
from retrieval.answer.reranking import RerankStep
from retrieval.answer.rewriting import Rewriter
from retrieval.answer.search import Found, Searcher
from retrieval.answer.sources import label_sources
from retrieval.answer.streams import Tasks, closing
from retrieval.documents import is_attachment
from retrieval.index.protocol import Hit
from retrieval.trace import Trace


@dataclass(frozen=True, slots=True)
class Retrieved:
    standalone: str
    sources: tuple[Source, ...]
    #: Passages found before any were left out: 0 means that nothing at all is in scope.
    found: int


class Retriever:
    def __init__(
        self, searcher: Searcher, *, rewriter: Rewriter | None = None, reranker: RerankStep | None = None
    ) -> None:
        self._searcher = searcher
        self._rewriter = rewriter
        self._reranker = reranker

    async def retrieve(self, question: Question, trace: Trace) -> AsyncIterator[Status | Retrieved]:
        """Any number of `Status`, then one `Retrieved`.

        Raises what `Searcher.find` raises.
        """
        rewriter = self._rewriter if self._rewriter and self._rewriter.wanted(question) else None
        if rewriter is None:
            yield Status("searching", 1)
            steps = self._rank(await self._searcher.find(question, [question.text], trace), question, trace)
        elif question.options.rewrites == "always" or question.history:
            steps = self._with_rewrites(question, rewriter, trace)
        else:
            steps = self._rewrites_when_weak(question, rewriter, trace)
        async with closing(steps) as stream:
            async for step in stream:
                yield step

    async def _with_rewrites(
        self, question: Question, rewriter: Rewriter, trace: Trace
    ) -> AsyncIterator[Status | Retrieved]:
        """The question is searched while its rewrite is on the way."""
        async with Tasks() as tasks:
            note = "Begun while the question was being rephrased."
            first = tasks.start(self._searcher.find(question, [question.text], trace, note=note))
            rewriting = tasks.start(rewriter.rewrite(question, trace))
            yield Status("rephrasing")
            rephrased = await rewriting
            queries = plan_queries(question.text, rephrased)
            yield Status("searching", len(queries))
            found = await self._search(question, queries, first, trace)
        async with closing(self._rank(found, question, trace, rephrased=rephrased)) as steps:
            async for step in steps:
                yield step

    async def _rewrites_when_weak(
        self, question: Question, rewriter: Rewriter, trace: Trace
    ) -> AsyncIterator[Status | Retrieved]:
        """No rewrite is asked for where the question itself finds what looks like its answer."""
        yield Status("searching", 1)
        async with Tasks() as tasks:
            first = tasks.start(self._searcher.find(question, [question.text], trace))
            found = await first
            strong, ranked = await self._judge(found, question, trace)
            rephrased: Rephrased | None = None
            if not strong:
                yield Status("rephrasing")
                rephrased = await rewriter.rewrite(question, trace)
                queries = plan_queries(question.text, rephrased)
                if queries != [question.text]:
                    yield Status("searching", len(queries))
                    found, ranked = await self._search(question, queries, first, trace), None
        async with closing(self._rank(found, question, trace, rephrased=rephrased, ranked=ranked)) as steps:
            async for step in steps:
                yield step

    async def _judge(self, found: Found, question: Question, trace: Trace) -> tuple[bool, list[Hit] | None]:
        """Whether the first search is good enough, and its reranked hits where that took reranking."""
        ranked: list[Hit] | None = None
        with trace.step("judge") as step:
            sure = found.confidence
            strong = sure is not None and sure >= STRONG
            step.outputs = {"confidence": None if sure is None else round(sure, 3), "enough": STRONG}
            if not strong and found.hits and self._reranks(question):
                ranked = await self._reranked(question.text, distinct(found.hits), question, trace)
                best = max((h.score for h in ranked if "rerank" in h.lists), default=0.0)
                strong = best >= STRONG_RERANKED
                step.outputs |= {"best reranked": round(best, 3), "enough reranked": STRONG_RERANKED}
            step.outputs["waited"] = not strong
        return strong, ranked

    async def _rank(
        self,
        found: Found,
        question: Question,
        trace: Trace,
        *,
        rephrased: Rephrased | None = None,
        ranked: list[Hit] | None = None,
    ) -> AsyncIterator[Status | Retrieved]:
        """`ranked`: the hits, where they were reranked already."""
        standalone = rephrased.standalone if rephrased else question.text
        hits = ranked
        if hits is None:
            hits = distinct(found.hits)
            if hits and self._reranks(question):
                yield Status("reranking", len(hits))
                hits = await self._reranked(standalone, hits, question, trace)
        yield Retrieved(standalone, self._hand_on(question, hits, trace), len(found.hits))

    def _reranks(self, question: Question) -> bool:
        return question.options.rerank and self._reranker is not None

    async def _reranked(self, query: str, hits: list[Hit], question: Question, trace: Trace) -> list[Hit]:
        assert self._reranker is not None
        threshold = question.options.threshold
        return await self._reranker.order(query, hits, threshold=threshold, trace=trace)

    async def _search(
        self, question: Question, queries: list[str], first: asyncio.Task[Found], trace: Trace
    ) -> Found:
        """All queries at once. The first search stands if the rewrite adds nothing, or if this fails."""
        if queries == [question.text]:
            return await first
        try:
            return await self._searcher.find(question, queries, trace)
        except Exception:
            return await first

    def _hand_on(self, question: Question, hits: list[Hit], trace: Trace) -> tuple[Source, ...]:
        options = question.options
        with trace.step("select", passages=len(hits)) as step:
            limit = options.passages_handed_on
            if question.attachments is not None:
                least, most = question.attachment_places(limit)
                hits = with_quota(hits, limit=limit, least=least, most=most)
                step.inputs["places of attached files"] = [least, most]
            kept = fitting(hits, limit=limit, tokens=options.source_tokens)
            sources = label_sources(kept, options.style.labels)
            step.outputs["sources"] = {source.label: source.chunk.chunk_id for source in sources}
            if question.attachments is not None:
                step.outputs["of attached files"] = sum(is_attachment(s.chunk.meta) for s in sources)
        return sources
