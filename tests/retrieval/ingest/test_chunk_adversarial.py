"""Input that was made to take long: each is done in a moment where the time is linear, and never where it
is quadratic."""

import pytest

from retrieval.documents import Chunk
from retrieval.ingest.chunk import has_words, passages
from retrieval.ingest.clean import clean, clean_document, clean_line
from retrieval.ingest.tokens import MAX_CHARS, estimate
from tests.retrieval.ingest.parsed import chunks_of, parsed_of, section

SIZE = 50_000

UNITS = {
    "no spaces": "a",
    "words": "word ",
    "Chinese without marks": "今天天气很好",
    "Thai": "ทีมรับของแพนเธอร์สถอดใจ",
    "pipes": "|",
    "backticks": "`",
    "hashes": "#",
    "headings": "# a\n",
    "nested headings": "# a\n## b\n### c\n",
    "empty headings": "#\n",
    "underlined headings": "a\n===\n",
    "rulers": "---\n",
    "blank lines": " \n",
    "rows": "| a | b |\n",
    "tables": "| a |\n|---|\n| b |\n",
    "brackets": "[",
    "links": "[a](b) ",
    "broken links": "[a](b",
    "broken nested links": "[a](x(",
    "code spans": "`a` ``b`` ",
    "broken code spans": "`a ``b ```c ",
    "fences": "```\na\n",
    "items": "- a\n",
    "nested items": "- a\n  - b\n",
    "angles": "<a",
    "full stops": ". ",
    "quotes": '."" ',
    "ideographic stops": "。",
    "accents": "e\u0301\u0316",
    "nothing but accents": "\u0301\u0316",
    "families": "👨‍👩‍👧‍👦",
    "flags": "🇩🇪",
    "joiners": "\u200d",
    "spaces": " " * 15 + "a",
    "returns": "\r",
    "zero bytes": "\0",
    "surrogates": "\ud800",
}
WHOLE = {
    "code": "```py\n" + "x = 1\n" * (SIZE // 6),
    "code in one line": "```\n" + "a b;" * (SIZE // 4),
    "code with blank lines": "```\n" + "x\n\n" * (SIZE // 3),
    "a heading": "# " + "x" * SIZE,
    "a heading of hashes": "# " + "a # " * (SIZE // 4),
    "an item": "- " + "word " * (SIZE // 5),
    "a cell": "| a | b |\n|---|---|\n| k | " + "word " * (SIZE // 5) + " |",
    "a header": "|" + "a|" * (SIZE // 4) + "\n|" + "-|" * (SIZE // 4) + "\n|" + "b|" * (SIZE // 4),
    "a fence": "`" * SIZE + "\ntext",
    "an info string": "```" + "x" * SIZE + "\ntext\n```",
    "a fence far to the right": " " * SIZE + "```py\nx\n```",
    "a sentence and spaces": "a." + " " * SIZE + "\n.",
}


@pytest.mark.parametrize("text", [u * (SIZE // len(u)) for u in UNITS.values()], ids=UNITS)
def test_repeated(text: str) -> None:
    check(chunks_of(text))


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_oversized(text: str) -> None:
    check(chunks_of(text))


def check(chunks: list[Chunk]) -> None:
    for chunk in chunks:
        assert has_words(chunk.text)
        assert estimate(chunk.text) < 350 + 80
        assert len(chunk.text) <= MAX_CHARS * (350 + 80)
        assert len(chunk.heading_path) <= 12
        assert all(len(heading) <= 300 for heading in chunk.heading_path)


@pytest.mark.parametrize("unit", ["# a\n", "a\n===\n", "---\n"])
def test_the_event_loop_gets_its_turn_where_there_is_nothing_to_hand_on(unit: str) -> None:
    steps = list(passages(parsed_of(unit * 5000)))
    assert len(steps) >= 5000


def test_a_heading_far_too_long_in_a_path_is_shortened() -> None:
    (only,) = chunks_of(section("text", "word " * 100_000))
    assert len(only.heading_path[0]) <= 300


def test_runs_of_combining_marks_are_bounded() -> None:
    # Without a bound, normalising this takes minutes.
    assert len(clean("a" + "\u0316\u0301" * 100_000)) <= 32
    assert clean("q" + "\u0316\u0301" * 15) == "q" + "\u0316" * 15 + "\u0301" * 15


def test_a_long_line_is_cleaned_in_parts_without_a_trace() -> None:
    text = "ab\u0301\r\n" * 60_000 + "é" * 300_000 + "e\u0301" * 100_000
    (cleaned,) = clean_document(parsed_of(text)).sections
    assert cleaned.markdown == clean(text)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Plan\u202egnp.exe", "Plangnp.exe"),
        ("  A\u200b \n\t B\0\x1b[31m ", "A B[31m"),
        ("\u2066x\u2069\ufeff\u00ad", "x"),
        ("\u3164\u200b", ""),
        ("Cafe\u0301 👩‍🚀\u200d", "Café 👩‍🚀"),
        ("word " * 20, "word word word word…"),
        ("x" * 99, "x" * 23 + "…"),
    ],
)
def test_lines_for_people_hide_nothing(raw: str, shown: str) -> None:
    assert clean_line(raw, 24) == shown
