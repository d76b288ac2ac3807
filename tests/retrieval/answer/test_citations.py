"""Forms in which models name their sources, and text that only looks like it."""

from __future__ import annotations

import pytest

from retrieval.answer.citations import CitationParser
from retrieval.answer.protocol import LabelStyle

FOUR = ("1", "2", "3", "4")
NAMES = ("keys.md", "sts.md", "keys.md#2", "Travel policy 2024.pdf", "Source code.md")


def parse(
    text: str,
    labels: tuple[str, ...] = FOUR,
    style: LabelStyle = "numbers",
    passages: dict[str, str] | None = None,
) -> tuple[str, list[str]]:
    """The text shown and the labels named, in order of appearance."""
    parser = CitationParser(labels, style, passages)
    shown = parser.feed(text) + parser.finish()
    return shown, [source.label for source in parser.named]


@pytest.mark.parametrize(
    ("text", "shown", "named"),
    [
        ("It expires [1].", "It expires [1].", ["1"]),
        ("It expires[3].", "It expires[1].", ["3"]),
        ("Both [2, 4].", "Both [1][2].", ["2", "4"]),
        ("Both [2,4] [2;4] [4 & 2] [2 and 4] [4 2]", "Both [1][2] [1][2] [1][2] [1][2] [1][2]", ["2", "4"]),
        ("Both [2][4].", "Both [1][2].", ["2", "4"]),
        ("Three [1-3], [2–4].", "Three [1][2][3], [2][3][4].", ["1", "2", "3", "4"]),
        ("Wide 【2】 and ［3］.", "Wide [1] and [2].", ["2", "3"]),
        ("Daggers 【2†source】【4:0†a.md】.", "Daggers [1][2].", ["2", "4"]),
        ("Note [^2] [[3]] \\[4\\].", "Note [1] [2] [3].", ["2", "3", "4"]),
        ("Words [Source 2] [Sources: 3, 4].", "Words [1] [2][3].", ["2", "3", "4"]),
        ("Page [2, p. 7] [3, pages 1-2].", "Page [1] [2].", ["2", "3"]),
        ("**Bold [2]** and _[3]_.", "**Bold [1]** and _[2]_.", ["2", "3"]),
        ("Hollow links [2](#) [3](#source-3) [4](4).", "Hollow links [1] [2] [3].", ["2", "3", "4"]),
        ("No link [2](see below).", "No link [1](see below).", ["2"]),
        ("Again [3] and [3] and [1].", "Again [1] and [1] and [2].", ["3", "1"]),
        ("密钥九十天后过期【3】。", "密钥九十天后过期[1]。", ["3"]),
        ("صالحة [٣].", "صالحة [1].", ["3"]),
    ],
)
def test_every_form_of_a_label_becomes_a_numbered_mark(text: str, shown: str, named: list[str]) -> None:
    assert parse(text) == (shown, named)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Cites [5, 7] with four sources.", "Cites with four sources."),
        ("At the end [9].", "At the end."),
        ("At the very end [9]", "At the very end"),
        ("In the middle [9] of it.", "In the middle of it."),
        ("[9] At the head.", "At the head."),
        ("Before\n[9] a line.", "Before\na line."),
        ("Glued[9]together", "Glued\\[9\\]together".replace("\\", "")),
        ("Two [9] [8].", "Two."),
        ("Two [9][8] here", "Two here"),
        ("Next to a good one [9][2].", "Next to a good one [1]."),
        ("Next to a good one [2][9].", "Next to a good one [1]."),
        ("Some of them [2, 9].", "Some of them [1]."),
        ("A range that leaves the set [3-9].", "A range that leaves the set [1][2]."),
        ("- [9] an item\n- other [9]\n", "- an item\n- other\n"),
        ("| a [9] | [2] |\n", "| a | [1] |\n"),
        ("Wide 【9†source】!", "Wide!"),
        ("(see [9])", "(see)"),
    ],
)
def test_unknown_labels_go_with_the_space_before_them(text: str, shown: str) -> None:
    assert parse(text)[0] == shown


@pytest.mark.parametrize(
    "text",
    [
        "```\nx[1] = [2]\n```\n",
        "~~~python\nsay([1])\n~~~\n",
        "- item\n\n  ```\n  [1]\n  ```\n",
        "> ```\n> [1]\n> ```\n",
        "1. ```sh\n   [1]\n   ```\n",
        "````\n```\n[1]\n```\n[2]\n````\n",
        "```\nnever closed [1]\n",
        "Call `f[1]` or ``a ` [2]``.",
        "`[1]`",
        "A [link](https://example.com/a[1]) and [1](https://example.com/_(x)) and [2](/a 'b').",
        "Check [x] and [ ], [optional], [2024], [0-9], [sic], [...], [+1 555], [].",
        "Matrix y[0] of args[0].",
        "[^7](https://example.com)",
    ],
)
def test_code_links_and_other_brackets_are_left_alone(text: str) -> None:
    assert parse(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Take x[1] and y[2][3].", "Take x\\[1\\] and y\\[2\\]\\[3\\]."),
        ("Set arr[2]=3.", "Set arr\\[2\\]=3."),
        ("[1]: https://example.com\n[2]: b\n", "\\[1\\]: https://example.com\n\\[2\\]: b\n"),
        ("[^1]: a note", "[^1]: a note"),
        ("[[9]1] and [1[9]] and [\\[9\\]2]", "[1\\] and [1\\] and [2\\]"),
    ],
)
def test_what_only_looks_like_a_mark_is_escaped(text: str, shown: str) -> None:
    assert parse(text) == (shown, [])


@pytest.mark.parametrize("text", ["It takes 24 h[1].", "In 5 m[1]", "It's[1]", "días[1]", "vitamin C[1]"])
def test_a_label_without_a_space_is_no_array_index(text: str) -> None:
    assert parse(text) == (text, ["1"])


def test_an_unclosed_backtick_makes_no_code() -> None:
    assert parse("A ` tick [3]\nand [9] `` ` [4]") == ("A ` tick [1]\nand `` ` [2]", ["3", "4"])


def test_code_ends_and_citations_go_on() -> None:
    text = "```\n[1]\n```\nDone [2]. `[1]` too [3]."
    assert parse(text) == ("```\n[1]\n```\nDone [1]. `[1]` too [2].", ["2", "3"])


def test_labels_in_tables_are_citations() -> None:
    table = "| Key | Days |\n| --- | --- |\n| API [2] | 90 [3] |\n"
    parser = CitationParser(FOUR)
    shown = parser.feed(table) + parser.finish()
    assert shown == "| Key | Days |\n| --- | --- |\n| API [1] | 90 [2] |\n"
    assert [source.claims for source in parser.named] == [("API 90",), ("API 90",)]


PAPER = {
    "1": "Attention beats recurrent networks [3] in machine translation [12]. Others disagree [2, 7].",
    "2": "Convolutions are fast.",
    "3": "Recurrent networks remain strong on small corpora [3].",
}


@pytest.mark.parametrize(
    ("text", "shown", "named"),
    [
        (
            "“Attention beats recurrent networks [3] in machine translation [12].” [1]",
            "“Attention beats recurrent networks \\[3\\] in machine translation [12].” [1]",
            ["1"],
        ),
        # The same number after other words is a citation; an unknown one is still unknown.
        ("Translation is better [3], as some say [12].", "Translation is better [1], as some say.", ["3"]),
        # Copied from the passage that it names: a citation in either reading.
        ("Recurrent networks remain strong on small corpora [3].", None, ["3"]),
        ("others disagree [2, 7]. [2]", "others disagree [2, 7]. [1]", ["2"]),
    ],
)
def test_a_bracket_copied_from_a_passage_is_no_citation(
    text: str, shown: str | None, named: list[str]
) -> None:
    found = parse(text, ("1", "2", "3"), passages=PAPER)
    assert found[1] == named
    assert shown is None or found[0] == shown


@pytest.mark.parametrize(
    ("text", "shown", "named"),
    [
        ("After 90 days [keys.md].", "After 90 days [keys.md].", ["keys.md"]),
        ("Case [KEYS.md] and space [ keys.md ].", "Case [keys.md] and space [keys.md].", ["keys.md"]),
        ("Two [keys.md#2, sts.md].", "Two [keys.md#2][sts.md].", ["keys.md#2", "sts.md"]),
        ("Two [keys.md][sts.md].", "Two [keys.md][sts.md].", ["keys.md", "sts.md"]),
        ("Words [source: keys.md] 【sts.md】.", "Words [keys.md] [sts.md].", ["keys.md", "sts.md"]),
        (
            "[Source code.md] [travel policy 2024.pdf, p. 3]",
            None,
            ["Source code.md", "Travel policy 2024.pdf"],
        ),
        ("Linked [keys.md](keys.md).", "Linked [keys.md].", ["keys.md"]),
        ("Unknown [nope.md] [keys.md#9] [1].", "Unknown.", []),
        ("Left [Settings > Keys] and [x] and [optional].", None, []),
        ("A link [sts.md](https://example.com/sts.md).", None, []),
        ("Code `[keys.md]`.", None, []),
    ],
)
def test_labels_can_be_names(text: str, shown: str | None, named: list[str]) -> None:
    found = parse(text, NAMES, "names")
    assert found[1] == named
    assert shown is None or found[0] == shown
    assert named or shown or found[0] == text


def test_a_name_copied_from_another_passage_is_escaped() -> None:
    passages = {"keys.md": "For more about tokens see [sts.md] in the handbook.", "sts.md": "Tokens."}
    text = "For more about tokens see [sts.md]. [keys.md]"
    shown = "For more about tokens see \\[sts.md\\]. [keys.md]"
    assert parse(text, ("keys.md", "sts.md"), "names", passages) == (shown, ["keys.md"])


def test_no_more_text_is_held_back_than_a_label_needs() -> None:
    parser = CitationParser(FOUR)
    assert parser.feed("It expires") == "It expires"
    assert parser.feed(" ") == ""
    assert parser.feed("[") == ""
    assert parser.feed("2") == ""
    assert parser.feed("]") == ""
    assert parser.feed(" ") == " [1]"
    assert parser.feed("after [") == " after"
    assert parser.feed("some") == " [some"
    assert parser.feed("thing `co") == "thing `co"
    assert parser.feed("de") == "de"
    assert parser.feed("[1]") == ""
    assert parser.feed("`\n") == "[1]`\n"
    assert parser.feed("```py\nx") == "```py\nx"
    assert parser.feed("[1]") == "[1]"


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("First thing. Keys last 90 days [1]. Then more.", ("Keys last 90 days.",)),
        ("Keys last 90 days. [1] Then more.", ("Keys last 90 days.",)),
        ("- **Keys** last `90` days [1]\n- Other", ("Keys last 90 days",)),
        ("[1] says that keys last 90 days. More.", ("says that keys last 90 days.",)),
        ("Intro.\nKeys last 90 days.\n\n[1]\n", ("Keys last 90 days.",)),
        ("One [1]. Two. Three [1].", ("One.", "Three.")),
        ("密钥有效期为九十天[1]。之后失效。", ("密钥有效期为九十天。",)),
        ("[1]", ()),
    ],
)
def test_each_source_carries_the_sentences_it_supports(text: str, claims: tuple[str, ...]) -> None:
    parser = CitationParser(FOUR)
    parser.feed(text)
    parser.finish()
    assert [source.claims for source in parser.named] == [claims]
