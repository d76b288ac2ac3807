"""What holds for every text, every way to cut it and every set of labels."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from retrieval.answer.citations import CitationParser
from retrieval.answer.labels import LabelGrammar
from retrieval.answer.protocol import LabelStyle

LABELS: dict[LabelStyle, tuple[str, ...]] = {
    "numbers": ("1", "2", "3"),
    "names": ("keys.md", "keys.md#2", "a b.pdf"),
}
PIECES = (
    *"[]()【】［］^†`~\\|>-–,;:#.!?'\"1239 \n\tax_*$",
    *(
        "[1]",
        "[2, 3]",
        "[9]",
        "[1-3]",
        "[[1]]",
        "【2†s】",
        "[^1]",
        "\\[1\\]",
        "[1]:",
        "](",
        "[1](#)",
        " [4]",
    ),
    *(
        "[keys.md]",
        "[keys.md#2]",
        "[nope.md]",
        "keys.md",
        "a b.pdf",
        "[a b.pdf, keys.md]",
        "source ",
        "p. 3",
    ),
    *(
        "```",
        "\n```\n",
        "`x[1]`",
        "~~~",
        "- ",
        "1. ",
        "word",
        "Word ends.",
        "密钥",
        "http://a.b/c",
        "and ",
        "  ",
    ),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
STYLES = st.sampled_from(sorted(LABELS))
PASSAGES = {"1": "Word ends. word and word [2] word", "2": "x", "3": "ends [1] [9]"}


def parser(style: LabelStyle) -> CitationParser:
    return CitationParser(LABELS[style], style, PASSAGES if style == "numbers" else None)


def whole(text: str, style: LabelStyle) -> tuple[str, CitationParser]:
    made = parser(style)
    return made.feed(text) + made.finish(), made


@given(TEXTS, STYLES, st.lists(st.integers(0, 200), max_size=30))
def test_the_way_a_text_is_cut_changes_nothing(text: str, style: LabelStyle, cuts: list[int]) -> None:
    expected, all_at_once = whole(text, style)
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for edges in (bounds, list(range(len(text) + 1))):
        made = parser(style)
        shown = "".join(made.feed(text[a:b]) for a, b in itertools.pairwise(edges)) + made.finish()
        assert shown == expected
        assert made.named == all_at_once.named


@given(TEXTS, STYLES)
def test_what_was_shown_is_never_taken_back(text: str, style: LabelStyle) -> None:
    expected, _ = whole(text, style)
    for end in range(len(text) + 1):
        assert expected.startswith(parser(style).feed(text[:end]))


@given(TEXTS, STYLES)
def test_every_mark_left_is_a_citation_and_every_citation_has_its_mark(
    text: str, style: LabelStyle
) -> None:
    shown, made = whole(text, style)
    grammar = LabelGrammar(LABELS[style], style)
    marks = {mark for mark in re.findall(r"\[([^\[\]\n]+)\]", prose(shown)) if grammar.is_label(mark)}
    named = {str(source.number) if style == "numbers" else source.label for source in made.named}
    assert marks <= named
    assert [source.number for source in made.named] == list(range(1, len(made.named) + 1))
    assert {source.label for source in made.named} <= set(LABELS[style])


@given(TEXTS, STYLES)
def test_code_is_untouched(text: str, style: LabelStyle) -> None:
    shown, _ = whole(text, style)
    fences = re.compile(r"(?m)^(```+|~~~+)[^`\n]*\n(?s:.*?)(?:^\1[`~]*[ \t]*$|\Z)")
    first = fences.search(text)
    if first and not re.search(r"[`~]", text[: first.start()]):
        assert first[0] in shown


@given(st.text(max_size=200), STYLES)
def test_text_without_brackets_passes_as_it_stands(text: str, style: LabelStyle) -> None:
    text = re.sub(r"[\[\]【】［］]", "", text)
    assert whole(text, style)[0] == text


@given(st.text(alphabet="".join({*"".join(PIECES), *"sourcequlandtyp§٣"}), max_size=70), STYLES, st.data())
def test_what_reads_as_a_label_could_become_one_at_every_cut(
    content: str, style: LabelStyle, data: st.DataObject
) -> None:
    grammar = LabelGrammar(LABELS[style], style)
    content = data.draw(
        st.sampled_from([content, "1, 2", "source 1 and 3", "2–3", "3†x", "keys.md, a b.pdf"])
    )
    if grammar.read(content) is not None:
        assert all(grammar.may_become(content[:end]) for end in range(len(content) + 1))


@pytest.mark.parametrize("style", sorted(LABELS))
def test_long_and_hostile_texts_take_linear_time(style: LabelStyle) -> None:
    for text in ("[" * 50_000, "[1" * 30_000, "`" * 50_000, "` [" * 20_000, " " * 100_000, "](" * 30_000):
        made = parser(style)
        for start in range(0, len(text), 4_000):
            made.feed(text[start : start + 4_000])
        made.finish()


def prose(markdown: str) -> str:
    """Text outside of code and links, without escaped brackets, as a renderer of Markdown sees it.

    Line by line: in chats no code span goes over the end of a line.
    """
    renderer = MarkdownIt("commonmark")
    blocks = renderer.parse(re.sub(r"\\[\\\[\]`]", "", markdown))
    lines = [line for block in blocks if block.type == "inline" for line in block.content.split("\n")]
    depth, texts = 0, list[str]()
    for line in lines:
        for token in renderer.parseInline(line)[0].children or ():
            depth += token.nesting if token.type.startswith("link") else 0
            texts.append(token.content if depth == 0 and token.type == "text" else "\n")
    return "\n".join(texts)
