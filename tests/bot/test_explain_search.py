""" "Why this answer?" tells which lists were trusted, and whether rewrites were waited for."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.conversation import Reply
from bot.explain import explain
from bot.turns import TurnRecord
from retrieval.trace import Step, Trace


def lines_of(name: str, outputs: dict[str, Any], **inputs: Any) -> tuple[str, ...]:
    step = Step(name=name, start_ms=0, inputs=inputs, outputs=outputs)
    record = TurnRecord(
        turn_id="t",
        workspace="w",
        conversation="c",
        asker="p",
        private=False,
        question="q",
        reply=Reply(turn_id="t", kind="answer", text="a"),
        trace=Trace(turn_id="t", workspace="w", steps=[step]),
    )
    (told,) = explain(record, {}).steps
    return told.lines


def lists(keywords: float, *, found: bool = True, others: int = 0) -> list[dict[str, Any]]:
    dense = {"weight": 1 - keywords, "found": True, "in another language": 0}
    return [
        {"dense:0": dense, "bm25:0": {"weight": keywords, "found": found, "in another language": others}}
    ]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            lists(0.12),
            ["Keywords counted 12%, meaning 88%: no passage holds much of the question's words."],
        ),
        (lists(0.5), ["Keywords counted 50%, meaning 50%."]),
        (lists(0.75), ["Keywords counted 75%, meaning 25%: a passage holds most of the question's words."]),
        (lists(0, found=False), ["No passage holds a word of the question, so only meaning counted."]),
        (
            lists(0.5, others=3),
            [
                "Keywords counted 50%, meaning 50%.",
                "Compared by meaning, as they are in another language than the words: 3.",
            ],
        ),
        ([{"bm25:0": {"weight": 1.0, "found": True, "in another language": 0}}], []),
        ([{}], []),
        ([], []),
    ],
)
def test_why_a_list_was_trusted_less(told: list[dict[str, Any]], expected: list[str]) -> None:
    assert list(lines_of("search", {"lists": told, "hits": []}, queries=[])) == expected


def test_lists_of_several_phrasings_are_told_together() -> None:
    told = {
        name: {"weight": 0.25, "found": True, "in another language": 0}
        for name in ("dense:0", "bm25:0", "dense:1", "bm25:1")
    }
    assert lines_of("search", {"lists": [told]}) == ("Keywords counted 50%, meaning 50%.",)


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        (
            {"confidence": 0.9, "enough": 0.5, "waited": False},
            ["looked good (confidence 0.90, enough is 0.5)", "no other phrasing was waited for"],
        ),
        (
            {"confidence": 0.1, "enough": 0.5, "waited": True},
            ["looked weak (confidence 0.10", "other phrasings were asked for"],
        ),
        (
            {"confidence": 0.1, "best reranked": 0.8, "enough reranked": 0.5, "waited": False},
            ["looked good", "best score of the reranker 0.80, enough is 0.5"],
        ),
        ({"confidence": None, "waited": True}, ["looked weak, so"]),
    ],
)
def test_why_rewrites_were_waited_for(outputs: dict[str, Any], words: list[str]) -> None:
    (line,) = lines_of("judge", outputs)
    assert all(each in line for each in words)
