"""The answer pipeline: scope, rephrase, search, rerank, generate, cite, as a stream of events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from retrieval.answer.events import AnswerEvent, Done, Outcome, Status, TextDelta
from retrieval.answer.failures import failed
from retrieval.answer.overview import overview_of
from retrieval.answer.protocol import CannedKey, CannedReplies, Intent, IntentDetector
from retrieval.answer.question import Question
from retrieval.answer.retrieve import Retrieved, Retriever
from retrieval.answer.rework import rework_of
from retrieval.answer.streams import closing
from retrieval.answer.write import Assignment, Writer
from retrieval.index.protocol import VectorIndex
from retrieval.scope import Scope
from retrieval.trace import Trace

HasDocuments = Callable[[Scope], Awaitable[bool]]

_INVALID: frozenset[Intent] = frozenset(("empty", "only_emoji", "too_long"))


class AnswerPipeline:
    """Answers questions. One for the whole application: it keeps nothing of a turn.

    `has_documents` tells an empty workspace from one in which nothing matches; it is asked only
    when nothing was found.
    """

    def __init__(
        self,
        *,
        index: VectorIndex,
        retriever: Retriever,
        writer: Writer,
        intents: IntentDetector,
        canned: CannedReplies,
        has_documents: HasDocuments | None = None,
    ) -> None:
        self._index = index
        self._retriever = retriever
        self._writer = writer
        self._intents = intents
        self._canned = canned
        self._has_documents = has_documents or self._index_has_documents

    async def answer(self, question: Question) -> AsyncIterator[AnswerEvent]:
        """Ends with exactly one `Done` or `Failed`; never raises but for cancellation.

        Closing the iterator ends the work at once, and every task that it began.
        """
        trace = Trace(turn_id=question.turn_id, workspace=question.scope.workspace)
        try:
            async with closing(self._answer(question, trace)) as events:
                async for event in events:
                    yield event
        except Exception as error:
            yield failed(error, trace)

    async def _answer(self, question: Question, trace: Trace) -> AsyncIterator[AnswerEvent]:
        with trace.step("intent", text_length=len(question.text)) as step:
            now = question.attached_now and bool(question.attached)
            intent = self._intents.detect(question.text, question.history, attached=now)
            if intent == "overview" and not question.attached:
                intent = "question"
            step.outputs["intent"] = intent
        if intent == "question":
            events = self._from_documents(question, trace)
        elif intent == "overview":
            events = self._overview(question, trace)
        elif intent == "rework":
            events = self._rework(question, trace)
        else:
            outcome: Outcome = "invalid_question" if intent in _INVALID else "small_talk"
            events = self._say(intent, outcome, question, trace)
        async with closing(events) as stream:
            async for event in stream:
                yield event

    async def _from_documents(self, question: Question, trace: Trace) -> AsyncIterator[AnswerEvent]:
        with trace.step("scope") as step:
            step.outputs["scopes"] = [scope.model_dump(mode="json") for scope in question.scopes]
        retrieved = Retrieved(question.text, (), 0)
        async with closing(self._retriever.retrieve(question, trace)) as steps:
            async for event in steps:
                if isinstance(event, Status):
                    yield event
                else:
                    retrieved = event
        if not retrieved.sources:
            empty = not retrieved.found and not await self._has_documents(question.scope)
            end: CannedKey = "empty_knowledge_base" if empty else "not_covered"
            async for event in self._say(end, end, question, trace):
                yield event
            return
        yield Status("reading", len(retrieved.sources))
        style = question.options.style
        task = Assignment(
            question=question.text,
            standalone=retrieved.standalone,
            sources=retrieved.sources,
            style=style,
            labels=style.labels,
            history=tuple(question.history),
            language=question.reply_language,
        )
        async with closing(self._writer.write(task, trace)) as events:
            async for event in events:
                yield event

    async def _overview(self, question: Question, trace: Trace) -> AsyncIterator[AnswerEvent]:
        """What the attached files say as a whole: from their beginnings, without a search."""
        with trace.step("beginnings of attached files", versions=list(question.attached)) as step:
            task = await overview_of(question, self._canned, self._index)
            step.outputs["sources"] = {s.label: s.chunk.chunk_id for s in task.sources} if task else {}
        if task is None:
            events = self._say("not_covered", "not_covered", question, trace)
        else:
            yield Status("reading", len(task.sources))
            events = self._writer.write(task, trace)
        async with closing(events) as stream:
            async for event in stream:
                yield event

    async def _rework(self, question: Question, trace: Trace) -> AsyncIterator[AnswerEvent]:
        previous = question.previous
        if previous is None or not (previous.citations or previous.sources or previous.sources_changed):
            events = self._say("nothing_to_rework", "small_talk", question, trace)
        else:
            with trace.step("sources of the previous answer") as step:
                task = await rework_of(question, previous, self._index)
                step.outputs["sources"] = {s.label: s.chunk.chunk_id for s in task.sources} if task else {}
            if task is None:
                events = self._say("sources_changed", "small_talk", question, trace)
            else:
                yield Status("reading", len(task.sources))
                events = self._writer.write(task, trace)
        async with closing(events) as stream:
            async for event in stream:
                yield event

    async def _say(
        self, key: CannedKey, outcome: Outcome, question: Question, trace: Trace
    ) -> AsyncIterator[AnswerEvent]:
        text = self._canned.reply(key, text=question.text, language=question.reply_language)
        yield TextDelta(text)
        yield Done(outcome, text, trace=trace)

    async def _index_has_documents(self, scope: Scope) -> bool:
        return bool(await self._index.languages(scope))
