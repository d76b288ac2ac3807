"""Rewrites are asked for only where the question itself finds little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.confidence import STRONG, STRONG_RERANKED, confidence
from retrieval.answer.protocol import HistoryTurn, Rephrased
from retrieval.index.protocol import Hit, Hits, ListWeight, QueryText, SearchMode
from retrieval.models.protocol import ModelError, Ranked
from retrieval.scope import Scope
from tests.doubles.index import MemoryIndex
from tests.doubles.models import ScriptedTextModel
from tests.retrieval.answer.doubles import Bench, ScriptedRephraser, ask, bench, outcome_of
from tests.retrieval.answer.handbook import chunk

QUESTION = "How long do API keys last?"
REWRITTEN = Rephrased(standalone=QUESTION, alternatives=("key lifetime",))
BOTH = [QUESTION, "key lifetime"]


def weights(keywords: float) -> list[ListWeight]:
    return [ListWeight("dense:0", 1 - keywords), ListWeight("bm25:0", keywords)]


class Judged(MemoryIndex):
    """Its best hit stands well apart, or not."""

    def __init__(self, *, sure: bool) -> None:
        super().__init__()
        self._sure = sure

    async def search(
        self,
        scope: Scope,
        queries: Sequence[QueryText],
        *,
        limit: int,
        mode: SearchMode = "hybrid",
        explain: bool = True,
    ) -> Hits:
        found = await super().search(scope, queries, limit=limit, mode=mode, explain=explain)
        scores = [1.0, *[0.2 if self._sure else 0.99] * len(found)]
        hits = [replace(hit, score=score) for hit, score in zip(found, scores, strict=False)]
        return Hits(hits, weights(0.5 if self._sure else 0.1))


class ConstantReranker:
    """Gives every passage the same score."""

    name = "scripted:reranker"

    def __init__(self, score: float) -> None:
        self.queries: list[str] = []
        self._score = score

    async def rerank(self, query: str, passages: Sequence[str], *, limit: int) -> list[Ranked]:
        self.queries.append(query)
        return [Ranked(index=n, score=self._score) for n in range(min(limit, len(passages)))]

    async def aclose(self) -> None: ...


async def made(
    *, sure: bool, result: Rephrased | Exception = REWRITTEN, reranker: ConstantReranker | None = None
) -> tuple[Bench, ScriptedRephraser]:
    rephraser = ScriptedRephraser(result)
    model = ScriptedTextModel("So it is [1].")
    return await bench(model, rephraser=rephraser, index=Judged(sure=sure), reranker=reranker), rephraser


async def test_a_question_that_finds_its_answer_waits_for_nothing() -> None:
    built, rephraser = await made(sure=True)
    outcome = await outcome_of(built.pipeline.answer(ask(QUESTION, alternatives=1)))
    assert rephraser.questions == []
    assert built.index.searches == [[QUESTION]]
    assert [status.kind for status in outcome.statuses][:2] == ["searching", "reading"]
    judged = outcome.step("judge").outputs
    assert judged["waited"] is False
    assert judged["confidence"] >= judged["enough"] == STRONG


async def test_a_question_that_finds_little_is_rephrased() -> None:
    built, rephraser = await made(sure=False)
    outcome = await outcome_of(built.pipeline.answer(ask(QUESTION, alternatives=1)))
    assert rephraser.questions == [QUESTION]
    assert built.index.searches == [[QUESTION], BOTH]
    assert outcome.step("judge").outputs["waited"] is True
    kinds = [(status.kind, status.count) for status in outcome.statuses]
    assert kinds[:3] == [("searching", 1), ("rephrasing", 0), ("searching", 2)]


@pytest.mark.parametrize("result", [ModelError("unavailable", "x"), Rephrased(standalone=QUESTION)])
async def test_without_a_rewrite_the_first_search_stands(result: Rephrased | Exception) -> None:
    built, _ = await made(sure=False, result=result)
    outcome = await outcome_of(built.pipeline.answer(ask(QUESTION, alternatives=1)))
    assert built.index.searches == [[QUESTION]]
    assert outcome.done.outcome == "answered"


async def test_always_means_always() -> None:
    built, rephraser = await made(sure=True)
    await outcome_of(built.pipeline.answer(ask(QUESTION, alternatives=1, rewrites="always")))
    assert rephraser.questions == [QUESTION]
    assert built.index.searches[-1] == BOTH


async def test_in_a_thread_the_question_is_made_to_stand_alone_first() -> None:
    built, rephraser = await made(sure=True)
    history = (HistoryTurn("person", "Hello"), HistoryTurn("assistant", "Hi."))
    await outcome_of(built.pipeline.answer(ask(QUESTION, alternatives=1, history=history)))
    assert rephraser.questions == [QUESTION]


@pytest.mark.parametrize("kind", ["semantic", "keyword"])
async def test_a_search_of_one_kind_is_never_sure(kind: str) -> None:
    class OneKind(Judged):
        async def search(self, *args, **kwargs):  # pyright: ignore
            found = await super().search(*args, **kwargs)  # pyright: ignore
            return Hits(found, [ListWeight("dense:0" if kind == "semantic" else "bm25:0", 1.0)])

    rephraser = ScriptedRephraser(REWRITTEN)
    built = await bench(ScriptedTextModel("So [1]."), rephraser=rephraser, index=OneKind(sure=True))
    await outcome_of(built.pipeline.answer(ask(QUESTION, alternatives=1, mode=kind)))
    assert rephraser.questions == [QUESTION]


@pytest.mark.parametrize(("score", "waited"), [(STRONG_RERANKED, False), (STRONG_RERANKED / 2, True)])
async def test_a_reranker_has_the_last_word(score: float, waited: bool) -> None:
    reranker = ConstantReranker(score)
    built, rephraser = await made(sure=False, reranker=reranker)
    outcome = await outcome_of(built.pipeline.answer(ask(QUESTION, alternatives=1, rerank=True)))
    assert bool(rephraser.questions) is waited
    # What was reranked to judge it is not reranked again.
    assert len(reranker.queries) == 1 + waited
    assert outcome.step("judge").outputs["best reranked"] == score


async def test_a_reranker_is_not_asked_where_the_lists_are_sure() -> None:
    reranker = ConstantReranker(0.1)
    built, rephraser = await made(sure=True, reranker=reranker)
    await outcome_of(built.pipeline.answer(ask(QUESTION, alternatives=1, rerank=True)))
    assert (rephraser.questions, len(reranker.queries)) == ([], 1)


def hits(*scores: float) -> list[Hit]:
    return [Hit(chunk(f"{n}.md", str(n)), score) for n, score in enumerate(scores)]


def test_how_sure_a_search_is() -> None:
    assert confidence(Hits([], weights(0.5))) == 0
    assert confidence(Hits()) == 0
    assert confidence(Hits(hits(1.0), [ListWeight("dense:0", 1.0)])) is None
    # Both lists agree on one passage of several, and words stand behind it ...
    assert (confidence(Hits(hits(1.0, 0.9), weights(0.6))) or 0) > STRONG
    # ... or one stands well apart, whatever its words ...
    assert (confidence(Hits(hits(1.0, 0.4), weights(0.0))) or 0) > STRONG
    # ... or neither.
    assert (confidence(Hits(hits(1.0, 0.9), weights(0.2))) or 0) < STRONG
    assert (confidence(Hits(hits(0.7, 0.6), weights(0.4))) or 0) < STRONG


@given(st.lists(st.floats(0, 1), max_size=5), st.floats(0, 1))
def test_it_is_in_its_range(scores: list[float], keywords: float) -> None:
    sure = confidence(Hits(hits(*sorted(scores, reverse=True)), weights(keywords)))
    assert sure is not None
    assert 0 <= sure <= 2
