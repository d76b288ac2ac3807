"""Answers without a language model."""

from __future__ import annotations

from collections.abc import AsyncIterator

from retrieval.answer.extractive.passages import read_passage
from retrieval.answer.extractive.question import Question, read_question, read_rewritten
from retrieval.answer.extractive.rank import Ranker
from retrieval.answer.extractive.render import render
from retrieval.answer.extractive.rework import Reworker
from retrieval.answer.extractive.select import Excerpt, select
from retrieval.answer.language import language_of
from retrieval.answer.phrases import PhraseBook
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
        its length needs a model and is left out."""
        if request.rework is not None:
            yield await self._reworker.rework(request)
            return
        excerpts = await self.excerpts(request)
        lead = self._lead(request, excerpts[0])
        for number, excerpt in enumerate(excerpts):
            yield ("\n\n" if number else lead) + render(excerpt)

    async def excerpts(self, request: AnswerRequest) -> list[Excerpt]:
        """What would be quoted, best first. Raises `NotCovered` and `ModelError`."""
        passages = [read_passage(source, rank) for rank, source in enumerate(request.sources)]
        for question in _readings(request):
            scored = await self._ranker.rank(question, passages)
            if scored:
                request.step.outputs.setdefault("best score", round(scored[0].score, 2))
            if scored and scored[0].score >= 0:
                return select(question, scored, request.style.length)
        raise NotCovered

    def _lead(self, request: AnswerRequest, first: Excerpt) -> str:
        """A line before quotes that are in another language than the one to answer in."""
        language = request.language or language_of(request.question)
        if language is None or language == first.passage.language:
            return ""
        return self._phrases.reply("documents_say", text=request.question, language=language) + "\n\n"


def _readings(request: AnswerRequest) -> list[Question]:
    """The question as its thread completes it; then as it was asked, where that says enough alone."""
    rewritten = read_rewritten(request.question, request.standalone)
    own = read_question(request.question)
    alone = request.question != request.standalone and len(own.keys) >= _ENOUGH_KEYS
    return [rewritten, own] if alone else [rewritten]
