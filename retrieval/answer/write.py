"""From labelled sources to an answer with citations, and what happens when the model fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from retrieval.answer.cite import cite
from retrieval.answer.draft import Draft, WriteTimes
from retrieval.answer.events import AnswerEvent, CitedSource, Done, Source, Status, TextDelta
from retrieval.answer.failures import failed
from retrieval.answer.protocol import (
    Answerer,
    AnswerRequest,
    AnswerStyle,
    CannedKey,
    CannedReplies,
    HistoryTurn,
    LabelStyle,
    QuoteFinder,
    Rework,
)
from retrieval.answer.streams import closing
from retrieval.trace import Step, Trace


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is to be written: an answer, or the rework of one (then `kept` are its citations)."""

    question: str
    standalone: str
    sources: tuple[Source, ...]
    style: AnswerStyle
    labels: LabelStyle
    history: tuple[HistoryTurn, ...] = ()
    #: Language of what the bot says itself, where the question shows none.
    language: str | None = None
    rework: Rework | None = None
    overview: bool = False
    kept: tuple[CitedSource, ...] = ()

    def request(self, step: Step) -> AnswerRequest:
        return AnswerRequest(
            question=self.question,
            standalone=self.standalone,
            history=self.history,
            sources=self.sources,
            language=self.style.language,
            style=self.style,
            rework=self.rework,
            overview=self.overview,
            step=step,
        )


class Writer:
    """`fallback` answers when `answerer` fails; `modelless`: `answerer` itself is no language model."""

    def __init__(
        self,
        answerer: Answerer,
        quotes: QuoteFinder,
        canned: CannedReplies,
        *,
        fallback: Answerer | None = None,
        modelless: bool = False,
        times: WriteTimes | None = None,
    ) -> None:
        self._answerer = answerer
        self._quotes = quotes
        self._canned = canned
        self._fallback = fallback
        self._modelless = modelless
        self._times = times or WriteTimes()

    async def write(self, task: Assignment, trace: Trace) -> AsyncIterator[AnswerEvent]:
        """Ends with one `Done` or `Failed`.

        Half an answer never ends as a whole one: when the model breaks off, the fallback's answer
        replaces it (`Done.revised`); without one the turn has failed.
        """
        with trace.step("generate", **_inputs(task)) as step:
            draft = Draft(self._answerer, task.request(step), style=task.labels, times=self._times)
            async with closing(draft.deltas()) as deltas:
                async for text in deltas:
                    if text == draft.text:
                        yield Status("writing")
                    yield TextDelta(text)
        half = draft.text if draft.error else ""
        if (error := draft.error) is not None:
            if self._fallback is None:
                yield failed(error, trace)
                return
            with trace.step("generate without a model", **_inputs(task)) as step:
                draft = Draft(self._fallback, task.request(step), style=task.labels, times=self._times)
                async with closing(draft.deltas()) as deltas:
                    texts = [text async for text in deltas]
            if draft.end != "complete":
                # "Not covered" by a few rules means little: the model might have found it.
                yield failed(error, trace)
                return
            for text in texts if not half else ():
                yield TextDelta(text)
        fell_back, seen = error is not None, half or draft.text
        async with closing(self._finish(task, draft, trace, fell_back=fell_back, seen=seen)) as events:
            async for event in events:
                yield event

    async def _finish(
        self, task: Assignment, draft: Draft, trace: Trace, *, fell_back: bool, seen: str
    ) -> AsyncIterator[AnswerEvent]:
        """The end of a draft that didn't fail. `seen`: the text that the deltas so far make up."""
        done = Done("answered", draft.text, trace=trace, sources=task.sources)
        notes = [self._say("without_model", task)] if fell_back or self._modelless else []
        if draft.named:
            yield Status("checking")
            citations = await cite(draft.named, task.sources, self._quotes, style=task.labels, trace=trace)
            # A model may answer in part; without one it is the closest passage, shown as such.
            closest = self._modelless and draft.end == "not_covered"
            done = replace(done, citations=citations, outcome="not_covered" if closest else done.outcome)
        elif draft.end == "complete" and task.kept:
            marks = "".join(f"[{citation.label}]" for citation in task.kept)
            done = replace(done, text=f"{done.text} {marks}", citations=task.kept)
        elif draft.end == "complete":
            notes.append(self._say("no_sources", task))
        elif draft.end == "not_covered":
            text = draft.text or self._say("not_covered", task)
            done, notes = replace(done, outcome="not_covered", text=text), []
        else:
            done, notes = replace(done, outcome="small_talk", text=self._say("cannot_rework", task)), []
        done = replace(done, notes=tuple(notes), revised=not done.text.startswith(seen))
        if not done.revised and (rest := done.text[len(seen) :]):
            yield TextDelta(rest)
        yield done

    def _say(self, key: CannedKey, task: Assignment) -> str:
        return self._canned.reply(key, text=task.question, language=task.language)


def _inputs(task: Assignment) -> dict[str, object]:
    return {
        "question": task.question,
        "standalone": task.standalone,
        "sources": {source.label: source.chunk.chunk_id for source in task.sources},
        "rework": task.rework is not None,
    }
