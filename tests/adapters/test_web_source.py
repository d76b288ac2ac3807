"""The source view: passages with the cited words marked, and what stands around them."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.ports import Rectangle, SourceView
from adapters.web.markdown import to_html
from adapters.web.passage import passage_html
from adapters.web.plain import to_text
from adapters.web.source import source_page
from tests.adapters.fake_bot import FakeBot, page_of

MARK = re.compile(r'<mark(?: id="mark")?>(.*?)</mark>', re.DOTALL)
TABLE = """| Country | Day | Half |
| :-- | --: | --: |
| Spain | 42 EUR | 21 EUR |
| Japan | 50 EUR | 25 EUR |"""


def marked(passage: str, quote: str) -> str:
    at = passage.index(quote)
    return passage_html(passage, (at, at + len(quote)))


def words(html: str) -> list[str]:
    return [unescape(re.sub("<[^>]*>", "", found)) for found in MARK.findall(html)]


@pytest.mark.parametrize(
    ("passage", "quote", "found"),
    [
        ("First. Every 90 days. Last.", "Every 90 days.", ["Every 90 days."]),
        (TABLE, "| Japan | 50 EUR | 25 EUR |", ["Japan", "50 EUR", "25 EUR"]),
        (TABLE, "Japan | 50 EUR | 25", ["Japan", "50 EUR", "25"]),
        ("1. Open it.\n2. Press **New key**.\n3. Go.", "2. Press **New key**.", ["Press ", "New key"]),
        ("```python\nAGE = 90\nGRACE = 1\n```", "AGE = 90", ["AGE = 90"]),
        ("# Keys & locks\n\nTurn *it* now.", "Keys & locks\n\nTurn *it*", ["Keys & locks", "Turn ", "it"]),
        ("See [the list](https://a.example/b) now.", "See [the list](https://a.example/b)",
         ["See ", "the list"]),
        ("Fees &amp; taxes, <b>20 %</b> more", "taxes, <b>20 %", ["taxes, <b>20"]),
        ("日本語の文です。次の文です。", "次の文です。", ["次の文です。"]),
        ("हिन्दी में लिखा है। और भी।", "हिन्दी में लिखा है।", ["हिन्दी में लिखा है।"]),
        ("- a_b and *c*\n- d\n\ne", "a_b and *c*\n- d", ["a_b and ", "c", "d"]),
        ("He said \"go.\" Then", 'said "go."', ['said "go."']),
    ],
)  # fmt: skip
def test_the_cited_words_are_marked_in_what_they_are(passage: str, quote: str, found: list[str]) -> None:
    html = marked(passage, quote)
    assert words(html) == found
    assert html.count('id="mark"') == 1
    assert re.sub("</?mark[^>]*>", "", html) == to_html(passage, marks={})


def test_where_a_mark_would_change_the_meaning_the_text_is_shown_as_it_stands() -> None:
    passage = "x**“b”** and y"  # no Markdown, since the first stars stand within a word
    assert (
        marked(passage, "x**“b”** and") == f'<p class="plain"><mark id="mark">{passage[:-2]}</mark> y</p>'
    )


def test_a_passage_that_is_meant_as_a_whole_has_no_marks() -> None:
    assert passage_html(TABLE, (0, 0)) == to_html(TABLE, marks={})


@given(
    st.text(st.sampled_from("ab 1.|-*_`#>[]()<&;\n\ufdd0\ufdd1é”"), max_size=80),
    st.integers(0, 80),
    st.integers(0, 80),
)
def test_marks_only_add_marks(passage: str, start: int, end: int) -> None:
    text = passage.replace("\ufdd0", "\ufffd").replace("\ufdd1", "\ufffd")
    html = passage_html(passage, (start, min(end, len(passage))))
    bare = re.sub("</?mark[^>]*>", "", html)
    as_text = bare.startswith('<p class="plain">')
    assert bare == to_html(text, marks={}) or (as_text and unescape(bare)[17:-4] == text)
    assert html.count("<mark") == html.count("</mark>") == len(MARK.findall(html))
    assert "\ufdd0" not in html
    assert "\ufdd1" not in html


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        (TABLE, "Country · Day · Half; Spain · 42 EUR · 21 EUR; Japan · 50 EUR · 25 EUR"),
        ("Hotel, large city | 190 | night", "Hotel, large city · 190 · night"),
        ("# Keys\n\n- **Change** `them`\n- see [this](https://a.example)", "Keys Change them see this"),
        ("```python\nx = 1\n```", "x = 1"),
        ("a | b \\| c", "a · b | c"),
        ("x" * 50, "x" * 29 + "…"),
    ],
)
def test_excerpts(markdown: str, text: str) -> None:
    assert to_text(markdown, limit=30 if len(markdown) == 50 else 200) == text


def view(**values: Any) -> SourceView:
    return SourceView.model_validate(
        {
            "title": "Travel policy", "name": "travel.pdf", "version": 2, "page": 3, "passage": "One. Two.",
            "quote_span": (5, 9), "heading_path": ("Trips", "Air & sea"), **values,
        }
    )  # fmt: skip


def test_a_page_with_its_image() -> None:
    box = Rectangle(left=0.1, top=0.2, right=0.4, bottom=0.25)
    html = source_page(view(has_image=True, marks=(box,), before="Zero.", after="Three."), "tok")
    assert '<img src="/source/tok/page.png" alt="Page 3 of Travel policy">' in html
    assert '<rect x="0.10000" y="0.20000" width="0.30000" height="0.05000"/>' in html
    assert "<bdi>Air &amp; sea</bdi> <span>›</span> <bdi>page 3</bdi>" in html
    assert html.index("Zero.") < html.index("One.") < html.index("Three.")


def test_slides_are_called_slides() -> None:
    assert "slide 3" in source_page(view(name="All hands.PPTX"), "tok")


def test_nothing_of_a_document_becomes_markup() -> None:
    bad = '<script>alert(1)</script>"$name'
    html = source_page(
        view(title=bad, name=bad, heading_path=(bad,), passage=bad, before=bad, after=bad,
             quote_span=(0, 0), has_image=True, source_url="javascript:alert(1)"),
        '"><script>',
    )  # fmt: skip
    assert "<script" not in html
    assert "javascript:" not in html
    assert html.count("$name") == html.count("&lt;script") - 1 > 5  # but for the token


async def test_a_link_that_does_not_open_says_why(tmp_path: Path) -> None:
    async with page_of(FakeBot(), tmp_path) as page:
        response = await page.get("/source/x")
        assert response.status == 410
        assert response.content_type == "text/html"
        assert "This link has &lt;expired&gt;." in await response.text()


async def test_a_source_and_its_image(tmp_path: Path) -> None:
    bot = FakeBot(view=view(has_image=True))
    async with page_of(bot, tmp_path) as page:
        response = await page.get("/source/tok")
        image = await page.get("/source/tok/page.png")
        assert response.headers["Cache-Control"] == "private, no-store"
        assert image.content_type == "image/png"
        assert ("page_image", "tok", 1400) in bot.calls
