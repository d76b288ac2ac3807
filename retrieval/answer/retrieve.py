"""From a question to the passages that are handed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from retrieval.answer.events import Source, Status
from retrieval.answer.passages import distinct, fitting, with_quota
from retrieval.answer.protocol import Rephrased
from retrieval.answer.queries import plan_queries
from retrieval.answer.question import Question
from retrieval.answer.reranking import RerankStep
from retrieval.answer.rewriting import Rewriter
from retrieval.answer.search import Searcher
from retrieval.answer.sources import label_sources
from retrieval.answer.streams import Tasks
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
        rephrased: Rephrased | None = None
        async with Tasks() as tasks:
            if self._rewriter and self._rewriter.wanted(question):
                note = "Begun while the question was being rephrased."
                first = tasks.start(self._searcher.find(question, [question.text], trace, note=note))
                rewriting = tasks.start(self._rewriter.rewrite(question, trace))
                yield Status("rephrasing")
                rephrased = await rewriting
            else:
                first = tasks.start(self._searcher.find(question, [question.text], trace))
            queries = plan_queries(question.text, rephrased)
            yield Status("searching", len(queries))
            hits = await self._search(question, queries, first, trace)
        found = len(hits)
        standalone = rephrased.standalone if rephrased else question.text
        hits = distinct(hits)
        if question.options.rerank and self._reranker and hits:
            yield Status("reranking", len(hits))
            threshold = question.options.threshold
            hits = await self._reranker.order(standalone, hits, threshold=threshold, trace=trace)
        yield Retrieved(standalone, self._hand_on(question, hits, trace), found)

    async def _search(
        self, question: Question, queries: list[str], first: asyncio.Task[list[Hit]], trace: Trace
    ) -> list[Hit]:
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
