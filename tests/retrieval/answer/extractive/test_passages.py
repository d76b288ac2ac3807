import pytest
from hypothesis import given

from retrieval.answer.extractive.passages import lines_of, read_passages
from tests.retrieval.answer.extractive.requests import source
from tests.retrieval.answer.extractive.test_units import LINES


def read(text: str) -> list[tuple[str, str]]:
    return [(line.heading, line.text) for line in lines_of(text, "Top")]


def test_lines_know_the_heading_above_them() -> None:
    assert read("One.\n\n## Two\n\nThree. Four.\n") == [
        ("Top", "One."),
        ("Two", "Three."),
        ("Two", "Four."),
    ]


def test_titles_of_plain_text_are_headings() -> None:
    text = "Release notes v2.3.1\n\nNew\n\nKeys can be limited.\n\nFixed\n\nUploads no longer fail."
    assert read(text) == [("New", "Keys can be limited."), ("Fixed", "Uploads no longer fail.")]
    assert read("入館\n入館には社員証が必要です。") == [("入館", "入館には社員証が必要です。")]


@pytest.mark.parametrize(
    "text",
    [
        "Keys expire after 90 days\n\nChange them in time.",
        "Opening hours\nMon to Fri\nSat closed",
        "Only this",
        "This goes on\nand on. Then it stops.",
        "ลาพักร้อนได้สิบวัน\n\nKeys expire. Change them.",
    ],
)
def test_what_says_something_is_no_title(text: str) -> None:
    assert {heading for heading, _ in read(text)} == {"Top"}


def test_a_row_is_read_with_its_column_names() -> None:
    assert read("| Plan | Days |\n|---|---|\n| Free | 30 |\n|  | 60 |") == [
        ("Top", "Plan: Free, Days: 30"),
        ("Top", "Days: 60"),
    ]


def test_the_rank_is_the_order_and_an_unknown_language_is_told() -> None:
    passages = read_passages(
        [source("A.", "1"), source("Das ist nicht der Schlüssel.", "2", language="und")]
    )
    assert [(p.rank, p.language) for p in passages] == [(0, "en"), (1, "de")]


@given(LINES)
def test_every_line_is_a_part_of_the_text(text: str) -> None:
    for line in lines_of(text):
        assert line.unit.of(text).strip()
        assert line.embedded
