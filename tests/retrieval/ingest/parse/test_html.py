"""HTML: the subject of a page is kept with its structure, the site around it is not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import parse
from retrieval.ingest.parse.html.parser import write_html
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.protocol import Unreadable
from tests.retrieval.ingest.parse.matching import read_whole

PROSE = (
    "Keys are changed every ninety days. The old key goes on working for another twenty-four hours, so "
    "that services can be moved over one by one, and then it stops for good. "
)
PAGE = f"""<!DOCTYPE html><html><head><title>Keys - ACME Wiki</title><base href="https://wiki.example.com/docs/">
<meta property="article:modified_time" content="2024-03-04T05:06:07Z"></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/news">Latest news</a></li></ul></nav>
<header>ACME Wiki <a href="/login">Log in</a></header>
<main><h1>Keys</h1><p>{PROSE * 3}</p>
<h2>Changing <em>them</em></h2><p>{PROSE * 2} See <a href="sts">the other page</a>.</p>
<table><tr><th>Key</th><th>Days</th></tr><tr><td>Root</td><td>90</td></tr></table></main>
<aside>Most read today</aside><footer>Imprint and privacy</footer></body></html>"""


def body(html: str) -> str:
    builder = SectionBuilder(ParseLimits())
    write_html(html, builder)
    return "\n\n".join(section.markdown for section in builder.build())


def test_a_web_page_without_its_site() -> None:
    document = parse("keys.html", PAGE.encode())
    assert [section.heading_path for section in document.sections] == [("Keys",), ("Keys", "Changing them")]
    whole = read_whole(document)
    for site in ("Latest news", "Log in", "Most read", "Imprint"):
        assert site not in whole
    assert "[the other page](https://wiki.example.com/docs/sts)" in whole
    assert "| Key | Days |\n| --- | --- |\n| Root | 90 |" in whole
    assert document.title == "Keys - ACME Wiki"
    assert document.document_date == datetime(2024, 3, 4, 5, 6, 7, tzinfo=UTC)


def test_the_whole_page_when_asked() -> None:
    whole = read_whole(parse("keys.html", PAGE.encode(), parser="html-full"))
    assert all(text in whole for text in ("Latest news", "Imprint", "Keys are changed"))


def test_a_page_of_many_short_parts_loses_none() -> None:
    rows = "".join(f"<dt>Term {at}</dt><dd>Meaning number {at}</dd>" for at in range(60))
    page = f"<html><body><nav><a href='/'>Home</a></nav><main><h1>Glossary</h1><dl>{rows}</dl></main>"
    whole = read_whole(parse("glossary.html", page.encode()))
    assert all(f"Term {at}\n" in whole and f"Meaning number {at}" in whole for at in range(60))
    assert "Home" not in whole


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>One<p>Two<br>lines", "One\n\nTwo\nlines"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ol><li>a<li><p>b</p><p>more</p></ol>", "1. a\n2. b\n  more"),
        (
            "<pre><code class='language-python'>def f():\n    return 1\n</code></pre>",
            "```python\ndef f():\n    return 1\n```",
        ),
        ("<p>Run <code>kb doctor</code> now", "Run `kb doctor` now"),
        ("<p># no heading", "\\# no heading"),
        (
            "<p>a <a href='https://e.com/x'>link</a>, <a href='/y'>not absolute</a>",
            "a [link](https://e.com/x), not absolute",
        ),
        ("<p>text<a href='https://e.com/#n1'>[1]</a>", "text[1]"),
        ("<blockquote><p>said</blockquote>", "> said"),
        ("<p hidden>no</p><p style='display: none'>no</p><script>no</script><p>yes", "yes"),
        ("<table><tr><td>a|b<td>c<tr><td colspan=2>d</table>", "| a\\|b | c |\n| --- | --- |\n| d |  |"),
        (
            "<table><tr><th>Day<th>Who<tr><td rowspan=2>Mon<td>Ada<tr><td>Bob</table>",
            "| Day | Who |\n| --- | --- |\n| Mon | Ada |\n| Mon | Bob |",
        ),
        (
            "<table><tr><td><ul><li>x<li>y</ul><td>z<tr><td>1<td>2</table>",
            "| x; y | z |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            "<table><tr><td>left<td><table><tr><td>1<td>2<tr><td>3<td>4</table></table>",
            "left\n\n| 1 | 2 |\n| --- | --- |\n| 3 | 4 |",
        ),
    ],
)
def test_elements(html: str, markdown: str) -> None:
    assert body(html) == markdown


def test_headings_in_a_layout_table_are_headings() -> None:
    page = "<table><tr><td><h2>Title</h2><p>Text below</p></td><td>Side</td></tr></table>"
    builder = SectionBuilder(ParseLimits())
    write_html(page, builder)
    assert [(section.heading_path, section.markdown) for section in builder.build()] == [
        (("Title",), "Text below\n\nSide")
    ]


@pytest.mark.parametrize("tag", ["div", "ul><li", "table><tr><td", "blockquote", "span", "h1", "a", "pre"])
def test_nesting_without_end_costs_no_stack(tag: str) -> None:
    page = f"<{tag}>" * 20_000 + "the end of it"
    assert "the end of it" in read_whole(parse("deep.html", b"<html><body>" + page.encode()))


_TAGS = (
    "<p>", "</p>", "<table>", "<tr>", "<td>", "</table>", "<ul>", "<li>", "</ul>", "<h1>", "</h1>", "<pre>",
    "</pre>", "<code>", "<a href='https://e.com'>", "</a>", "<!-- -->", "word ", "&amp;", "<br/>",
)  # fmt: skip


@given(st.lists(st.sampled_from(_TAGS)))
def test_any_mixture_of_tags_keeps_the_words(parts: list[str]) -> None:
    html = "<body>start " + "".join(parts)
    builder = SectionBuilder(ParseLimits())
    write_html(html, builder)
    said = " ".join(" ".join([*section.heading_path, section.markdown]) for section in builder.build())
    assert said.count("word") >= html.count("word ")
    assert "start" in said


@pytest.mark.parametrize("page", ["", " \n", "\0", "<!-- nothing -->", "<", "</p>"])
def test_no_page_at_all(page: str) -> None:
    builder = SectionBuilder(ParseLimits())
    write_html(page, builder)
    builder.text("end")
    assert builder.build()[-1].markdown.endswith("end")


def test_a_page_without_text_is_empty() -> None:
    with pytest.raises(Unreadable, match="empty"):
        parse("a.html", b"<html><head><title>Only a title</title></head><body><img src=x></body></html>")
