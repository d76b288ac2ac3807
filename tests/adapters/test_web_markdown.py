import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.markdown import to_html

ALLOWED = {
    "a", "blockquote", "br", "code", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p",
    "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {
            "href", "class", "rel", "target", "aria-label", "tabindex", "role", "dir", "start", "title",
        }  # fmt: skip
        self.links += [value or "" for name, value in attrs if name == "href"]


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


def test_marks_lead_to_their_source_and_nothing_else_does() -> None:
    html = to_html(
        "Every 90 days [1], see [12], `x[1]` and [1](https://x.example).", marks={"1": 1}, anchor="t"
    )
    assert html.count('class="cite"') == 1
    assert 'href="#t-1"' in html
    assert "[12]" in html
    assert "<code>x[1]</code>" in html
    assert 'href="https://x.example"' in html


def test_names_as_marks() -> None:
    assert 'href="#t-2"' in to_html("So it is [keys.md#2].", marks={"keys.md#2": 2}, anchor="t")


def test_on_its_way_numbers_look_like_marks() -> None:
    assert '<span class="cite">1</span>' in to_html("So it is [1]. And [keys")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        "![beacon](https://evil.example/x.png)",
        "[x](javascript:alert(1))",
        "[x](data:text/html,y)",
        '<https://a.example/"onmouseover=alert(1)>',
        '[x](https://a.example "t\\" onclick=alert(1)")',
    ],
)
def test_nothing_runs_and_nothing_loads(text: str) -> None:
    reader = read(to_html(text, marks={}))
    assert reader.tags <= ALLOWED
    assert all(re.match(r"https?://|mailto:|#", link) for link in reader.links)


@given(st.text(st.sampled_from("<>\"'&[]()!`*_#|\n- ahref=javscipt:/1"), max_size=120))
def test_any_text_gives_allowed_markup_only(text: str) -> None:
    reader = read(to_html(text, marks={"1": 1}, anchor="t"))
    assert reader.tags <= ALLOWED
    assert all(re.match(r"https?://|mailto:|#t-", link) for link in reader.links)
