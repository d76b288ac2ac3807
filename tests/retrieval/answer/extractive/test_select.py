from collections.abc import Mapping

import pytest

from retrieval.answer.events import Source
from retrieval.answer.extractive.features import Candidate
from retrieval.answer.extractive.passages import read_passages
from retrieval.answer.extractive.question import read_question
from retrieval.answer.extractive.rank import Scored
from retrieval.answer.extractive.render import render
from retrieval.answer.extractive.select import MOST_ITEMS, select
from retrieval.answer.protocol import Length
from tests.retrieval.answer.extractive.requests import source


def answer(question: str, scores: Mapping[str, float], *sources: Source, length: Length = "concise") -> str:
    """What is shown when the lines that hold the given words have the given scores, all others -9."""
    passages = read_passages(sources)
    scored: list[Scored] = []
    for passage in passages:
        for at, line in enumerate(passage.lines):
            score = max((value for words, value in scores.items() if words in line.text), default=-9.0)
            scored.append(Scored(Candidate(passage, at, 0.8, 0.7, 0.05), score))
    scored.sort(key=lambda s: -s.score)
    excerpts = select(read_question(question), scored, length)
    return "\n\n".join(map(render, excerpts))


PROSE = source("Tea is free. Coffee costs one euro. Lunch is at noon. Doors close at nine.")


def test_a_line_far_below_the_best_is_left_out() -> None:
    assert answer("How much is tea?", {"Tea": 4.0, "Coffee": 0.5}, PROSE) == "Tea is free. [1]"


def test_lines_nearly_as_good_follow_in_the_order_of_the_passage() -> None:
    text = answer("When?", {"Tea": 2.9, "Lunch": 3.0, "Doors": 2.8, "Coffee": 2.7}, PROSE)
    assert text == "Tea is free. [1] Lunch is at noon. [1] Doors close at nine. [1]"


def test_another_passage_has_to_score_nearly_the_same() -> None:
    other = source("Cocoa costs two euros.", "2")
    assert (
        answer("What costs?", {"Coffee": 3.0, "Cocoa": 2.0}, PROSE, other) == "Coffee costs one euro. [1]"
    )
    both = answer("What costs?", {"Coffee": 3.0, "Cocoa": 2.9}, PROSE, other)
    assert both == "Coffee costs one euro. [1]\n\nCocoa costs two euros. [2]"


LIST = source("Bring these:\n\n- your badge\n- a pen\n\nThen go home.")


@pytest.mark.parametrize(
    ("question", "scores"),
    [
        ("What do I bring?", {"Bring": 3.0}),
        ("List what to bring", {"badge": 3.0}),
        ("What do I bring?", {"badge": 3.0, "pen": 2.9}),
    ],
)
def test_a_list_is_whole_when_it_is_introduced_asked_for_or_hit_twice(
    question: str, scores: dict[str, float]
) -> None:
    assert answer(question, scores, LIST) == "Bring these: [1]\n\n- your badge [1]\n- a pen [1]"


def test_one_item_stands_alone_otherwise() -> None:
    assert answer("With what do I write?", {"pen": 3.0}, LIST) == "a pen [1]"


def test_a_long_list_is_bounded_around_the_item() -> None:
    steps = source("Do this:\n\n" + "\n".join(f"{n}. Polish part {n}." for n in range(1, 40)))
    near = answer("What are the steps?", {"part 3.": 3.0}, steps)
    assert near.startswith("Do this: [1]\n\n1. Polish part 1. [1]\n")
    assert near.endswith(f"{MOST_ITEMS}. Polish part {MOST_ITEMS}. [1]\n- …")
    far = answer("What are the steps?", {"part 30.": 3.0}, steps)
    assert "30. Polish part 30. [1]" in far
    assert "Do this" not in far
    assert far.count("[1]") == MOST_ITEMS


TABLE = source("| City | Limit |\n|---|---|\n| Paris | 210 |\n| Lyon | 150 |\n| Nice \\| Côte | 160 |")


def test_rows_are_a_table_with_its_header() -> None:
    text = answer("Which limits?", {"Paris": 3.0, "Nice": 2.9}, TABLE)
    assert text == "| City | Limit |\n| --- | --- |\n| Paris | 210 [1] |\n| Nice \\| Côte | 160 [1] |"


def test_one_row_is_a_line() -> None:
    assert answer("Limit in Lyon?", {"Lyon": 3.0}, TABLE) == "City: Lyon, Limit: 150 [1]"


def test_rows_that_name_less_of_the_question_are_left_out() -> None:
    text = answer("Limit in Lyon?", {"Lyon": 3.0, "Paris": 2.9}, TABLE)
    assert text == "City: Lyon, Limit: 150 [1]"


def test_a_wide_table_is_lines() -> None:
    names = " | ".join("ABCDEFGH")
    rows = "\n".join(f"| x{n} | {' | '.join('1234567')} |" for n in (1, 2))
    text = answer("Which?", {"x1": 3.0, "x2": 2.9}, source(f"| {names} |\n|{'---|' * 8}\n{rows}"))
    assert text.startswith("- A: x1, B: 1, C: 2")
    assert text.count("[1]") == 2


def test_rows_without_a_header_are_lines() -> None:
    assert (
        answer("Which?", {"a": 3.0, "b": 2.9}, source("| a | 1 |\n| b | 2 |")) == "- a, 1 [1]\n- b, 2 [1]"
    )


def test_code_is_fenced_beyond_the_fences_inside_it() -> None:
    text = answer("How?", {"run": 3.0}, source("~~~\nrun it\n```\n~~~"))
    assert text == "````\nrun it\n```\n````\n[1]"


def test_the_same_statement_elsewhere_is_left_out() -> None:
    copy = source("Tea is free. Cake is not.", "2")
    assert answer("Is tea free?", {"Tea": 3.0}, PROSE, copy) == "Tea is free. [1]"


def test_another_number_is_another_statement() -> None:
    rules = source("Rooms cost at most 190 euros a night.\n\nRooms cost at most 130 euros a night.")
    assert answer("What do rooms cost?", {"190": 3.0, "130": 2.9}, rules).count("[1]") == 2


def test_detailed_answers_reach_further_down() -> None:
    scores = {"Tea": 4.0, "Coffee": 1.0, "Lunch": 0.9, "Doors": 0.8}
    assert answer("What?", scores, PROSE, length="detailed").count("[1]") == 4
