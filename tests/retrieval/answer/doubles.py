"""A pipeline put together from doubles, and what comes out of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from retrieval.answer.draft import WriteTimes
from retrieval.answer.events import AnswerEvent, Done, Failed, Status, TextDelta
from retrieval.answer.llm import LlmAnswerer
from retrieval.answer.pipeline import AnswerPipeline
from retrieval.answer.protocol import (
    Answerer,
    AnswerRequest,
    CannedKey,
    HistoryTurn,
    Intent,
    Rephrased,
    Rephraser,
)
from retrieval.answer.question import AnswerOptions, PreviousAnswer, Question
from retrieval.answer.reranking import RerankStep
from retrieval.answer.retrieve import Retriever
from retrieval.answer.rewriting import Rewriter
from retrieval.answer.search import Searcher
from retrieval.answer.write import Writer
from retrieval.documents import Chunk
from retrieval.models.protocol import Embedder, Reranker, TextModel
from retrieval.scope import Scope
from retrieval.trace import Step, Trace
from tests.doubles.index import MemoryIndex
from tests.doubles.models import HashEmbedder
from tests.retrieval.answer.handbook import SCOPE, notes

INTENTS: dict[str, Intent] = {
    "": "empty",
    "hi": "greeting",
    "thanks": "thanks",
    "what can you do?": "capabilities",
    "🎉": "only_emoji",
    "shorten that": "rework",
    "in German please": "rework",
}


class ListedIntents:
    """Knows the messages of `INTENTS`; more than 2,000 words are too long; all else is a question."""

    def detect(self, text: str, history: Sequence[HistoryTurn], *, attached: bool = False) -> Intent:
        if attached and text in INTENTS:
            return "overview"
        return "too_long" if len(text.split()) > 2000 else INTENTS.get(text, "question")


class KeyReplies:
    """Says its key, with the language where one is given."""

    def reply(self, key: CannedKey, *, text: str, language: str | None = None) -> str:
        return f"<{key}>" if language is None else f"<{key} {language}>"


class FirstSentence:
    """Quotes the first sentence of the passage."""

    def find(self, sentence: str, passage: str) -> str:
        return passage.split(". ")[0]


class ScriptedAnswerer:
    """Yields its deltas and then raises its error, if it has one."""

    def __init__(self, *deltas: str, error: Exception | None = None) -> None:
        self.requests: list[AnswerRequest] = []
        self.closed = 0
        self._deltas = deltas
        self._error = error

    async def answer(self, request: AnswerRequest) -> AsyncIterator[str]:
        self.requests.append(request)
        try:
            for delta in self._deltas:
                yield delta
            if self._error:
                raise self._error
        finally:
            self.closed += 1


class ScriptedRephraser:
    """Gives its result, or what a function of the question makes, or raises it."""

    def __init__(
        self,
        result: Rephrased | Exception | Callable[[str], Rephrased],
        *,
        wait: Callable[[], Any] | None = None,
    ) -> None:
        self.questions: list[str] = []
        self._result = result
        self._wait = wait

    async def rephrase(
        self, question: str, history: Sequence[HistoryTurn], *, alternatives: int, step: Step
    ) -> Rephrased:
        self.questions.append(question)
        if self._wait:
            await self._wait()
        if isinstance(self._result, Exception):
            raise self._result
        return self._result if isinstance(self._result, Rephrased) else self._result(question)


@dataclass
class Bench:
    """The pipeline and its doubles."""

    pipeline: AnswerPipeline
    index: MemoryIndex
    embedder: Embedder


async def bench(
    model: TextModel | Answerer,
    *,
    chunks: Sequence[Chunk] | None = None,
    rephraser: Rephraser | None = None,
    rephrase_seconds: float = 60,
    reranker: Reranker | None = None,
    rerank_seconds: float = 60,
    fallback: Answerer | None = None,
    modelless: bool = False,
    index: MemoryIndex | None = None,
    embedder: Embedder | None = None,
    times: WriteTimes | None = None,
) -> Bench:
    """By default over the handbook's notes."""
    index = index or MemoryIndex()
    embedder = embedder or HashEmbedder()
    await index.add(notes() if chunks is None else chunks, HashEmbedder())
    answerer = LlmAnswerer(model) if hasattr(model, "stream") else model  # pyright: ignore[reportArgumentType]
    retriever = Retriever(
        Searcher(index, embedder),
        rewriter=Rewriter(rephraser, seconds=rephrase_seconds) if rephraser else None,
        reranker=RerankStep(reranker, seconds=rerank_seconds) if reranker else None,
    )
    writer = Writer(
        answerer,  # pyright: ignore[reportArgumentType]
        FirstSentence(),
        KeyReplies(),
        fallback=fallback,
        modelless=modelless,
        times=times,
    )
    pipeline = AnswerPipeline(
        index=index, retriever=retriever, writer=writer, intents=ListedIntents(), canned=KeyReplies()
    )
    return Bench(pipeline, index, embedder)


def ask(
    text: str,
    *,
    history: Sequence[HistoryTurn] = (),
    previous: PreviousAnswer | None = None,
    scope: Scope = SCOPE,
    attachments: Scope | None = None,
    attached: tuple[str, ...] = (),
    attached_now: bool = False,
    locale: str | None = None,
    **options: Any,
) -> Question:
    """A question with `options` of `AnswerOptions`; without alternatives unless they are given."""
    return Question(
        turn_id="turn-1",
        scope=scope,
        text=text,
        history=history,
        previous=previous,
        options=AnswerOptions.model_validate({"alternatives": 0, **options}),
        attachments=attachments,
        attached=attached,
        attached_now=attached_now,
        locale=locale,
    )


@dataclass
class Outcome:
    """All events of a turn, sorted."""

    statuses: list[Status] = field(default_factory=list[Status])
    deltas: list[str] = field(default_factory=list[str])
    ends: list[Done | Failed] = field(default_factory=list[Done | Failed])

    @property
    def done(self) -> Done:
        (end,) = self.ends
        assert isinstance(end, Done), end
        assert end.revised or "".join(self.deltas) == end.text
        return end

    @property
    def failed(self) -> Failed:
        (end,) = self.ends
        assert isinstance(end, Failed), end
        return end

    @property
    def trace(self) -> Trace:
        (end,) = self.ends
        assert end.trace is not None
        return end.trace

    def step(self, name: str) -> Step:
        (found,) = [step for step in self.trace.steps if step.name == name]
        return found

    def quotes(self) -> list[tuple[str, str]]:
        return [(citation.label, citation.quote) for citation in self.done.citations]


async def outcome_of(events: AsyncIterator[AnswerEvent]) -> Outcome:
    outcome = Outcome()
    async for event in events:
        assert not outcome.ends, "something came after the end"
        if isinstance(event, Status):
            outcome.statuses.append(event)
        elif isinstance(event, TextDelta):
            outcome.deltas.append(event.text)
        else:
            outcome.ends.append(event)
    return outcome
