"""Replies such as models and documents may bring forth, and worse."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from markdown_it import MarkdownIt

from adapters.conversation import Citation, Reply

_READER = MarkdownIt("commonmark", {"html": False}).enable("table")
_READER.validateLink = lambda url: True

HOSTILE = (
    "<!channel>", "<!here|x>", "<@U012AB>", "<#C012>", "@here", "@channel", "@everyone", "@&#104;ere",
    "\\<!channel>",
    "&lt;!everyone&gt;", "`<!here>`", "![alt](http://a.example/i.png)", "[go](javascript:alert(1))",
    "[<!here>](https://a.example)", "[[x]](a)(javascript:b)", "<slack://open>", "<tel:1|call me>",
    "![x][r]",
    "[r]: javascript:alert(1)", "\\[1\\]", "x[1]", "[1]", "[2]", "[keys.md]", "<at>Bob</at>", "<img src=x>",
    "[a](https://a.example/@here)", "[b](https://a.example/x_(y))", "https://a.example/?a=1&b=2", "**",
    "_", "`",
    "~~", "|", "!", "(", "[", "](", "&quot;", "\u2060", "\x00", "\ud800", "😀",
)  # fmt: skip
STARTS = (
    "",
    "# ",
    "- ",
    "1. ",
    "7) ",
    "> ",
    "```\n",
    "    ",
    "| a | b |\n| --- | --: |\n| ",
    "---\n",
    "> - ",
    "- > ",
)

WORDS = st.lists(
    st.one_of(st.sampled_from(HOSTILE), st.from_regex(r"[a-zé]{1,9}", fullmatch=True)), max_size=12
)
LINES = st.builds(
    lambda start, words, glue: start + glue.join(words),
    st.sampled_from(STARTS),
    WORDS,
    st.sampled_from((" ", "")),
)
TEXTS = st.builds(
    lambda lines, between, times: between.join(lines * times),
    st.lists(LINES, max_size=8), st.sampled_from(("\n", "\n\n")), st.sampled_from((1, 1, 1, 30)),
)  # fmt: skip
URLS = st.sampled_from(
    (
        None,
        "https://kb.example/s/1",
        "http://kb.example/s/1",
        "javascript:x",
        "https://a/ b",
        "https://k.example/" + "x" * 4000,
    )
)
NAMES = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=300))


def citation(number: int = 1, **values: Any) -> Citation:
    return Citation.model_validate(
        {
            "number": number, "label": str(number), "title": "Keys", "document_id": "d", "version_id": "v",
            "version": 1, "chunk_id": "c", "name": "keys.md", "quote": "Every 90 days.",
            "url": "https://kb.example/source/abc", **values,
        }
    )  # fmt: skip


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    numbers = range(1, draw(st.sampled_from((0, 1, 2, 3, 14, 60))) + 1)
    named = draw(st.booleans())
    values = st.fixed_dictionaries(
        {
            "title": NAMES, "url": URLS, "source_url": URLS, "quote": NAMES,
            "page": st.sampled_from((None, 3)), "heading_path": st.lists(NAMES, max_size=2).map(tuple),
        }
    )  # fmt: skip
    cited = [citation(n, **draw(values), label="keys.md" if named and n == 1 else str(n)) for n in numbers]
    return Reply(
        turn_id=draw(st.sampled_from(("t1", "t" * 160))),
        kind=draw(st.sampled_from(("answer", "not_covered", "notice", "apology"))),
        text=draw(TEXTS),
        citations=tuple(cited),
        notes=tuple(draw(st.lists(NAMES, max_size=3))),
        reference=draw(st.sampled_from((None, "r-1"))),
        suggestions=tuple(draw(st.lists(NAMES, max_size=7))),
    )


@st.composite
def plain_texts(draw: st.DrawFn) -> str:
    """Numbered words in Markdown of all kinds, short and long."""
    text, number = "", 0
    for start in draw(st.lists(st.sampled_from(STARTS), min_size=1, max_size=12)):
        many = draw(st.sampled_from((1, 3, 30, 900)))
        sign = draw(st.sampled_from(("", "*", "**", "`")))
        words = " ".join(f"{sign}w{n}{sign}" for n in range(number, number + many))
        number += many
        text += start + words + draw(st.sampled_from(("\n", "\n\n")))
    return text


def strings(value: Any) -> list[str]:
    """All texts of a JSON value."""
    if isinstance(value, str):
        return [value]
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for child in children for text in strings(child)]


def assert_harmless(markdown: str) -> None:
    """A reader of Markdown finds no image in it, and no link but to the web."""
    for token in _READER.parse(markdown):
        for child in token.children or ():
            assert child.type != "image"
            if child.type == "link_open":
                assert str(child.attrs["href"]).lower().startswith(("http://", "https://"))
