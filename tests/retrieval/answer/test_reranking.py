"""Reranking chooses, and never breaks a turn."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

import pytest

from retrieval.models.protocol import ModelError, Ranked
from tests.doubles.models import ScriptedReranker, ScriptedTextModel
from tests.retrieval.answer.doubles import Outcome, ask, bench, outcome_of
from tests.retrieval.answer.handbook import chunk

QUESTION = "How long do API keys last?"


def names(outcome: Outcome) -> list[str]:
    return [source.chunk.meta.name for source in outcome.done.sources]


def answering() -> ScriptedTextModel:
    return ScriptedTextModel("So it is [1].")


async def test_the_reranker_chooses_among_three_times_as_many() -> None:
    chunks = [chunk(f"note{n}.md", f"Keys, note number {n}.") for n in range(40)]
    reranker = ScriptedReranker(lambda _, passage: 1.0 if "number 39" in passage else 0.1)
    made = await bench(answering(), chunks=chunks, reranker=reranker)
    question = ask("keys", rerank=True, passages_retrieved=14, passages_handed_on=3)
    outcome = await outcome_of(made.pipeline.answer(question))
    assert names(outcome)[0] == "note39.md"
    assert len(names(outcome)) == 3
    assert outcome.step("search").inputs["limit"] == 42
    assert [status.count for status in outcome.statuses if status.kind == "reranking"] == [40]


async def test_the_threshold_cuts_only_what_was_reranked() -> None:
    reranker = ScriptedReranker(lambda _, passage: 0.9 if "paid leave" in passage else 0.2)
    made = await bench(answering(), reranker=reranker)
    kept = await outcome_of(made.pipeline.answer(ask("leave?", rerank=True, threshold=0.5)))
    assert names(kept) == ["leave.md"]
    none = await outcome_of(made.pipeline.answer(ask("leave?", rerank=True, threshold=0.95)))
    assert none.done.outcome == "not_covered"
    off = await outcome_of(made.pipeline.answer(ask("leave?", rerank=False, threshold=0.95)))
    assert len(names(off)) == 5


class OddReranker(ScriptedReranker):
    async def rerank(self, query: str, passages: Sequence[str], *, limit: int) -> list[Ranked]:
        return [Ranked(99, 0.9), Ranked(-1, 0.8), Ranked(0, math.nan)]


@pytest.mark.parametrize(
    ("reranker", "seconds", "note"),
    [
        (ScriptedReranker(error=ModelError("rate_limited", "x")), 60, "rate_limited"),
        (ScriptedReranker(error=RuntimeError("bug")), 60, "RuntimeError"),
        (ScriptedReranker(wait=asyncio.Event().wait), 0, "timeout"),
        (OddReranker(), 60, "no usable scores"),
    ],
)
async def test_whatever_is_wrong_with_the_reranker_the_fused_order_stands(
    reranker: ScriptedReranker, seconds: float, note: str
) -> None:
    plain = await bench(answering())
    fused = await outcome_of(plain.pipeline.answer(ask(QUESTION)))
    made = await bench(answering(), reranker=reranker, rerank_seconds=seconds)
    outcome = await outcome_of(made.pipeline.answer(ask(QUESTION, rerank=True, threshold=0.99)))
    assert names(outcome) == names(fused)
    assert note in (outcome.step("rerank").note or "")
