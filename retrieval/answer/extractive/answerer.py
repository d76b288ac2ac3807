"""Answers without a language model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from retrieval.answer.extractive.beginnings import beginnings
from retrieval.answer.extractive.passages import read_passages
from retrieval.answer.extractive.question import Question, read_question, read_rewritten
from retrieval.answer.extractive.rank import Ranker, Scored
from retrieval.answer.extractive.render import render
from retrieval.answer.extractive.rework import Reworker
from retrieval.answer.extractive.said import unsaid
from retrieval.answer.extractive.select import Excerpt, select
from retrieval.answer.extractive.weights import CLOSEST
from retrieval.answer.language import language_of
from retrieval.answer.phrases import LeadKey, PhraseBook
from retrieval.answer.protocol import AnswerRequest, NotCovered
from retrieval.models.protocol import Embedder

#: Topical words from which a question is also tried without its thread: people change the topic.
_ENOUGH_KEYS = 2


class ExtractiveAnswerer:
    """An `Answerer` that quotes the sentences, list items, table rows and steps which answer."""

    def __init__(self, embedder: Embedder) -> None:
        self._ranker = Ranker(embedder)
        self._reworker = Reworker(self._ranker)
        self._phrases = PhraseBook()

    async def answer(self, request: AnswerRequest) -> AsyncIterator[str]:
        """Whole paragraphs as deltas. Raises as `Answerer` says; what `request.style` asks for beyond
        its length needs a model and is left out.

        Where nothing answers but something comes near, that is quoted as such before `NotCovered`.
        """
        if request.rework is not None:
            yield await self._reworker.rework(request)
            return
        if request.overview:
            excerpts = await asyncio.to_thread(beginnings, request.sources, request.style.length)
            for number, excerpt in enumerate(excerpts):
                yield ("\n\n" if number else "") + render(excerpt)
            return
        question, scored = await self._find(request)
        scored = await asyncio.to_thread(unsaid, request.question, request.history, scored)
        if not scored or scored[0].score < CLOSEST:
            raise NotCovered
        covered = scored[0].score >= 0
        if not covered:
            first = scored[0].candidate.passage
            scored = [each for each in scored if each.candidate.passage is first]
        excerpts = select(question, scored, request.style.length)
        lead = self._lead(request, excerpts[0], covered)
        for number, excerpt in enumerate(excerpts):
            yield ("\n\n" if number else lead) + render(excerpt)
        if not covered:
            raise NotCovered

    async def _find(self, request: AnswerRequest) -> tuple[Question, list[Scored]]:
        """The lines for the reading of the question that is answered best, best first."""
        passages = await asyncio.to_thread(read_passages, request.sources)
        best: tuple[Question, list[Scored]] = read_question(request.question), []
        for question in _readings(request):
            scored = await self._ranker.rank(question, passages)
            if scored and (not best[1] or scored[0].score > best[1][0].score):
                best = question, scored
            if best[1] and best[1][0].score >= 0:
                break
        request.step.outputs["best score"] = round(best[1][0].score, 2) if best[1] else None
        return best

    def _lead(self, request: AnswerRequest, first: Excerpt, covered: bool) -> str:
        """A line before quotes that don't answer, or that are in another language than the reply."""
        language = request.language or language_of(request.question)
        if covered and language in (None, first.passage.language):
            return ""
        key: LeadKey = "documents_say" if covered else "closest"
        return self._phrases.reply(key, text=request.question, language=language) + "\n\n"


def _readings(request: AnswerRequest) -> list[Question]:
    """The question as its thread completes it; then as it was asked, where that says enough alone."""
    rewritten = read_rewritten(request.question, request.standalone)
    own = read_question(request.question)
    alone = request.question != request.standalone and len(own.keys) >= _ENOUGH_KEYS
    return [rewritten, own] if alone else [rewritten]
