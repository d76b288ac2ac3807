"""Measures answers apart from retrieval: do their citations hold, and are they silent when they should be?

Citation precision and recall follow Gao et al., "Enabling Large Language Models to Generate Text with
Citations", EMNLP 2023: of the sources that a sentence names, the share that hold it; and the share of
sentences that one of the sources they name holds. Faithfulness is the share of sentences that any passage
handed on holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel

from retrieval.answer.events import AnswerEvent, Done, Failed
from retrieval.answer.extractive.terms import fold
from retrieval.evaluation.dataset import Dataset, Query
from retrieval.evaluation.judge.model import ModelJudge
from retrieval.evaluation.judge.protocol import Judge
from retrieval.evaluation.sentences import cited_sentences
from retrieval.trace import Trace

Ask = Callable[[Query], AsyncIterator[AnswerEvent]]


class AnswerFigures(BaseModel):
    """One question. Shares are None where there is nothing to take a share of."""

    query: str
    answerable: bool
    answered: bool
    failed: bool = False
    sentences: int = 0
    citation_precision: float | None = None
    citation_recall: float | None = None
    faithfulness: float | None = None
    #: A document that the answer cites is judged relevant for the question.
    relevant_source: float | None = None
    #: One of the set's answers stands in the answer.
    contains_answer: float | None = None
    #: By a model: the answer is one to the question.
    relevance: float | None = None
    ms: float = 0.0
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked, and what is left out of the index so that some of it has no answer."""

    queries: tuple[Query, ...]
    unanswerable: frozenset[str]
    left_out: frozenset[str]


def plan(data: Dataset, *, limit: int, hide: float) -> Plan:
    """At most `limit` questions, spread evenly over the set.

    About the share `hide` of the documents is left out, the same ones in each run; a question of which
    every relevant document is left out has no answer any more, like those that the set says have none.
    """
    left_out = frozenset(d.id for d in data.corpus if hide and _draw(f"{data.name}/{d.id}") < hide)
    without = {q for q, judged in data.qrels.items() if judged.keys() <= left_out}
    everything = [*data.questions.values(), *data.unanswerable.values()]
    places = np.linspace(0, len(everything) - 1, min(limit, len(everything))).astype(int).tolist()
    return Plan(
        tuple(everything[place] for place in places),
        frozenset(without | data.unanswerable.keys()),
        left_out,
    )


async def measure(
    query: Query, ask: Ask, *, judge: Judge, relevant: Mapping[str, int], answerable: bool
) -> AnswerFigures:
    """Ask one question and judge what comes. Raises what a model judge raises."""
    end: Done | Failed | None = None
    async for event in ask(query):
        if isinstance(event, Done | Failed):
            end = event
    figures = AnswerFigures(query=query.id, answerable=answerable, answered=False)
    if not isinstance(end, Done):
        return figures.model_copy(update={"failed": True})
    update = _cost(end.trace)
    if end.outcome == "answered":
        update |= {"answered": True} | await _judged(query, end, judge, relevant)
    return figures.model_copy(update=update)


async def _judged(
    query: Query, end: Done, judge: Judge, relevant: Mapping[str, int]
) -> dict[str, float | int | None]:
    cited = {c.label: c.chunk for c in end.citations}
    sentences = cited_sentences(end.text, cited.keys())
    holds: list[bool] = []
    held_by_cited = held = 0
    for sentence in sentences:
        verdicts = [await _holds(judge, sentence.text, cited[label].context()) for label in sentence.labels]
        holds += verdicts
        supported = any(verdicts)
        held_by_cited += supported
        named = {cited[label].chunk_id for label in sentence.labels}
        others = (s.chunk.context() for s in end.sources if s.chunk.chunk_id not in named)
        held += supported or await _any_holds(judge, sentence.text, others)
    documents = {chunk.meta.name for chunk in cited.values()}
    return {
        "sentences": len(sentences),
        "citation_precision": _share(sum(holds), len(holds)),
        "citation_recall": _share(held_by_cited, len(sentences)),
        "faithfulness": _share(held, len(sentences)),
        "relevant_source": float(any(relevant.get(name, 0) > 0 for name in documents))
        if relevant
        else None,
        "contains_answer": _contains(end.text, query.answers) if query.answers else None,
        "relevance": float(await judge.relevant(query.text, end.text))
        if isinstance(judge, ModelJudge)
        else None,
    }


async def _any_holds(judge: Judge, sentence: str, passages: Iterable[str]) -> bool:
    for passage in passages:
        if await _holds(judge, sentence, passage):
            return True
    return False


async def _holds(judge: Judge, sentence: str, passage: str) -> bool:
    return (await judge.judge(sentence, passage)).supported


def _contains(text: str, answers: Sequence[str]) -> float:
    words = " ".join(fold(text).split())
    return float(any(" ".join(fold(answer).split()) in words for answer in answers))


def _cost(trace: Trace | None) -> dict[str, float | int]:
    if trace is None:
        return {}
    uses = [use for step in trace.steps for use in step.models]
    return {
        "ms": max((step.start_ms + step.ms for step in trace.steps), default=0.0),
        "calls": len(uses),
        "tokens": sum(use.input_tokens + use.output_tokens for use in uses),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _draw(name: str) -> float:
    """0..1, evenly spread, the same for the same name."""
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "replace")).digest()[:6], "big") / 2**48
