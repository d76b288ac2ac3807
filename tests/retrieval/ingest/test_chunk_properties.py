"""What holds for the chunks of any document."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from retrieval.documents import Chunk, Section, chunk_id
from retrieval.ingest.atoms import Cut
from retrieval.ingest.clean import clean
from retrieval.ingest.split import split
from retrieval.ingest.tokens import MAX_CHARS, estimate
from tests.retrieval.ingest.parsed import chunks_of, section, words

BUDGET, MINIMUM = 96, 24  # small, so that small documents have many chunks
_WORD = re.compile(r"w[a-z]{4}")
_HEADING = re.compile(r"heading \d+")


@dataclass
class Script:
    """A document under construction: its words are numbered, so that each can be followed."""

    sections: list[Section] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    path: tuple[str, ...] = ()
    page: int = 1
    #: word -> page and heading path at which it stands, in order
    places: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    #: heading -> page
    headings: dict[str, int] = field(default_factory=dict)

    def words(self, count: int) -> str:
        text = words(count, len(self.places))
        self.places |= dict.fromkeys(_WORD.findall(text), (self.page, self.path))
        return text

    def block(self, text: str) -> None:
        self.lines += ["", text]

    def end_section(self) -> None:
        self.sections.append(section("\n".join(self.lines), *self.path, page=self.page))
        self.lines = []


def paragraph(script: Script, a: int, b: int) -> None:
    # A capital, or a paragraph at the top of a page goes on with the one before.
    script.block("A " + " ".join(script.words(1 + a % 40) + ".!?"[i % 3] for i in range(1 + b % 12)))


def long_sentence(script: Script, a: int, b: int) -> None:
    script.block("A " + ", ".join(script.words(1 + a) for _ in range(1 + b % 3)))


def bullets(script: Script, a: int, b: int) -> None:
    items = [f"{'  ' * (i % (1 + b % 3))}- {script.words(1 + a % 40)}" for i in range(1 + b % 12)]
    script.block("\n".join(items))


def table(script: Script, a: int, b: int) -> None:
    width = 1 + b % 4
    rows = [
        "| " + " | ".join(script.words(1 + a % 30) for _ in range(width)) + " |" for _ in range(2 + b % 9)
    ]
    script.block("\n".join([rows[0], "|" + "---|" * width, *rows[1:]]))


def code(script: Script, a: int, b: int) -> None:
    lines = [script.words(1 + a % 30) + ("\n" if b and i % b == 0 else "") for i in range(1 + b % 20)]
    script.block("```py\n" + "\n".join(lines) + "\n```")


def page_break(script: Script, a: int, b: int) -> None:
    script.end_section()
    script.page += 1 + a % 2


def heading(script: Script, a: int, b: int) -> None:
    script.end_section()
    name = f"heading {len(script.headings)}"
    script.headings[name] = script.page
    script.path = (*script.path[: a % 4], name)


KINDS: list[Callable[[Script, int, int], None]] = [
    paragraph,
    long_sentence,
    bullets,
    table,
    code,
    page_break,
    heading,
]


@st.composite
def scripts(draw: st.DrawFn, kinds: list[Callable[[Script, int, int], None]] = KINDS) -> Script:
    script = Script()
    size = st.integers(0, 150)
    for kind, a, b in draw(st.lists(st.tuples(st.sampled_from(kinds), size, size), max_size=25)):
        kind(script, a, b)
    script.end_section()
    return script


def chunks(script: Script) -> list[Chunk]:
    return chunks_of(*script.sections, budget=BUDGET, minimum=MINIMUM)


relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@relaxed
@given(scripts())
def test_every_word_is_kept_in_order_and_nothing_but_headers_is_repeated(script: Script) -> None:
    found = [word for chunk in chunks(script) for word in _WORD.findall(chunk.text)]
    assert list(dict.fromkeys(found)) == list(script.places)


@relaxed
@given(scripts())
def test_every_heading_is_kept(script: Script) -> None:
    kept = {h for c in chunks(script) for h in (*c.heading_path, *_HEADING.findall(c.text))}
    assert kept == set(script.headings)


@relaxed
@given(scripts())
def test_pages_and_heading_paths_are_those_of_the_words(script: Script) -> None:
    for chunk in chunks(script):
        places = [script.places[word] for word in _WORD.findall(chunk.text)]
        pages = [page for page, _ in places] + [script.headings[h] for h in _HEADING.findall(chunk.text)]
        assert (chunk.page, chunk.page_end) == (min(pages), max(pages))
        assert {path for _, path in places} <= {chunk.heading_path}


@relaxed
@given(scripts())
def test_the_budget_is_kept(script: Script) -> None:
    for chunk in chunks(script):
        assert estimate(chunk.text) < BUDGET + MINIMUM
        assert len(chunk.text) <= MAX_CHARS * (BUDGET + MINIMUM)


@relaxed
@given(scripts())
def test_ids_and_ordinals_are_stable(script: Script) -> None:
    found = chunks(script)
    assert [c.ordinal for c in found] == list(range(len(found)))
    assert [c.chunk_id for c in found] == [chunk_id("v1", i) for i in range(len(found))]
    assert found == chunks(script)


@relaxed
@given(st.lists(st.integers(1, BUDGET // 4), min_size=1, max_size=40))
def test_no_short_chunks_where_paragraphs_can_be_put_together(sizes: list[int]) -> None:
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    paragraphs = [words(size, start) for size, start in zip(sizes, starts, strict=True)]
    found = chunks_of("\n\n".join(paragraphs), budget=BUDGET, minimum=MINIMUM)
    assert "\n\n".join(c.text for c in found) == "\n\n".join(paragraphs)
    assert len(found) == 1 or min(estimate(c.text) for c in found) >= MINIMUM


@relaxed
@given(scripts([paragraph, bullets, page_break, heading]))
def test_neighbours_that_fit_in_one_chunk_are_one(script: Script) -> None:
    for _, group in groupby(chunks(script), key=lambda c: c.heading_path):
        for first, second in pairwise(group):
            assert estimate(first.text) + estimate(second.text) > BUDGET


@relaxed
@given(scripts())
def test_rows_and_code_lines_that_fit_are_never_cut(script: Script) -> None:
    source = {line.strip() for s in script.sections for line in s.markdown.split("\n")}
    for chunk in chunks(script):
        for line in chunk.text.split("\n"):
            if line.startswith("|"):
                assert line in source


ANY_TEXT = st.text(st.characters(), max_size=400) | st.text(
    st.sampled_from("a Zé.,!?\n\t|`#-*[](){}<>_~\\0 1一。、กำ्क한\u200d👩🏽🚀🇩\u0301\u200b=:"), max_size=600
)


@settings(max_examples=300, deadline=None)
@given(ANY_TEXT, st.integers(32, 60))
def test_pieces_of_a_text_are_the_text(text: str, budget: int) -> None:
    pieces = list(split(text, budget, Cut.BLOCK))
    assert "".join(p.text for p in pieces) == text
    assert all(p.tokens == estimate(p.text) <= budget for p in pieces)
    assert all(p.text for p in pieces) or text == ""


@settings(max_examples=300, deadline=None)
@given(ANY_TEXT)
def test_any_text_keeps_its_words(text: str) -> None:
    assume("```" not in text and "~~~" not in text)  # code with an info string and no lines
    found = chunks_of(text, budget=32, minimum=8)
    kept = " ".join(" ".join((*c.heading_path, c.text)) for c in found)
    short = [word for word in clean(text).split() if word.isalnum() and len(word) <= 16]
    assert [word for word in short if word not in kept] == []
    assert all(estimate(c.text) < 40 for c in found)


@settings(max_examples=300, deadline=None)
@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing_and_encodes(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert once.encode().decode() == once
    assert not {"\0", "\r"} & set(once)
