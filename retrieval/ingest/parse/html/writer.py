"""HTML events to sections: headings, paragraphs, lists, tables, code, links.

It works on events and builds no tree, so that nesting of any depth costs no stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import urljoin

from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.grid import write_grid
from retrieval.ingest.parse.html.census import UNREAD
from retrieval.ingest.parse.html.lists import HtmlLists
from retrieval.ingest.parse.html.tables import HtmlTable
from retrieval.ingest.parse.sections import SectionBuilder

_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre", "section", "summary",
    "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
})  # fmt: skip
_HEADING = re.compile(r"h[1-6]")
_SPACE = re.compile(r"[ \t\r\n\f\u200b]+")
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|brush)[-:\s]+([\w+#]+)")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
#: An alternative text of fewer words is a file name or an icon's.
_MIN_ALT_WORDS = 4


class HtmlWriter:
    """A target for `lxml.etree.HTMLParser`.

    `skip` names elements that are left out; with `within`, only what stands in such an element is written.
    """

    def __init__(
        self,
        builder: SectionBuilder,
        *,
        base: str = "",
        skip: frozenset[str] = frozenset(),
        within: frozenset[str] = frozenset(),
    ) -> None:
        self._builder = builder
        self._base = base
        self._skip = UNREAD | skip
        self._within = within
        self._open: list[str] = []
        #: How many elements deep we are in one that is left out, and in one of `within`.
        self._out = 0
        self._inside = 0
        self._text: list[str] = []
        self._lists = HtmlLists()
        #: Stands before the next paragraph.
        self._lead = ""
        self._tables: list[HtmlTable] = []
        self._link: tuple[str, int] | None = None
        self._pre = 0
        self._language = ""
        self._quotes = 0
        self._starts: dict[str, Callable[[Mapping[str, str]], None]] = {
            "br": self._line_break, "img": self._picture, "a": self._start_link, "code": self._tick,
            "pre": self._start_pre, "ul": self._start_list, "ol": self._start_list, "li": self._start_item,
            "dd": self._start_definition, "blockquote": self._start_quote, "table": self._start_table,
            "tr": self._start_row, "td": self._start_cell, "th": self._start_cell,
        }  # fmt: skip
        self._ends: dict[str, Callable[[], None]] = {
            "a": self._end_link, "code": self._end_tick, "pre": self._end_pre, "ul": self._end_list,
            "ol": self._end_list, "blockquote": self._end_quote, "table": self._end_table,
            "tr": self._end_row, "td": self._end_cell, "th": self._end_cell,
        }  # fmt: skip

    # -- what the parser calls ---------------------------------------------------------------

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._open.append(tag)
        if self._out or tag in self._skip or _is_hidden(attributes):
            self._out += 1
            return
        self._inside += tag in self._within
        if tag in _BLOCKS:
            self._end_block()
        if handler := self._starts.get(tag):
            handler(attributes)
        elif _HEADING.fullmatch(tag):
            self._leave_tables()
            self._write_items()

    def end(self, tag: str) -> None:
        self._open.pop()
        if self._out:
            self._out -= 1
            return
        if handler := self._ends.get(tag):
            handler()
        elif _HEADING.fullmatch(tag):
            self._builder.heading(int(tag[1]), self._take().replace("`", ""))
        elif tag in _BLOCKS:
            self._end_block()
        self._inside -= tag in self._within

    def data(self, text: str) -> None:
        if not self._out and (self._inside or not self._within):
            self._text.append(text if self._pre else _SPACE.sub(" ", text))

    def close(self) -> None:
        self._end_block()
        while self._tables:
            self._end_table()
        self._write_items()

    # -- blocks --------------------------------------------------------------------------------

    def _end_block(self) -> None:
        if self._pre:
            return
        if self._in_cell():
            self._text.append(" ")
            return
        text = self._take()
        if not text:
            return
        if self._lists:
            self._lists.add(text)
        else:
            quote = "> " if self._quotes else ""
            self._builder.text(quote + self._lead + markdown.plain(text).replace("\n", f"\n{quote}"))
            self._lead = ""

    def _take(self) -> str:
        lines = "".join(self._text).split("\n")
        self._text = []
        if self._link:
            self._link = (self._link[0], 0)
        return "\n".join(stripped for line in lines if (stripped := _SPACE.sub(" ", line).strip()))

    def _line_break(self, _: Mapping[str, str]) -> None:
        self._text.append(" " if self._in_cell() else "\n")

    def _picture(self, attributes: Mapping[str, str]) -> None:
        alternative = attributes.get("alt") or ""
        if len(alternative.split()) >= _MIN_ALT_WORDS:
            self.data(f" {alternative} ")

    def _start_quote(self, _: Mapping[str, str]) -> None:
        self._quotes += 1

    def _end_quote(self) -> None:
        self._end_block()
        self._quotes -= 1

    # -- links and code ----------------------------------------------------------------------

    def _start_link(self, attributes: Mapping[str, str]) -> None:
        address = attributes.get("href") or ""
        try:
            address = (
                urljoin(self._base, address) if self._base and not address.startswith("#") else address
            )
        except ValueError:
            address = ""
        if address.lower().startswith(("http://", "https://", "mailto:")) and not self._pre:
            self._link = (address, len(self._text))

    def _end_link(self) -> None:
        if self._link is None:
            return
        address, at = self._link
        self._link = None
        text = "".join(self._text[at:])
        words = text.strip()
        # The number of a footnote leads nowhere that a reader needs.
        if any(char.isalpha() for char in words):
            lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
            self._text[at:] = [lead, markdown.link(words, address), trail]

    def _tick(self, attributes: Mapping[str, str]) -> None:
        if self._pre:
            self._language = self._language or _language(attributes)
        else:
            self._text.append("`")

    def _end_tick(self) -> None:
        if self._pre:
            return
        if self._text and self._text[-1] == "`":
            self._text.pop()
        else:
            self._text.append("`")

    def _start_pre(self, attributes: Mapping[str, str]) -> None:
        self._leave_tables()
        self._pre += 1
        self._language = self._language or _language(attributes)

    def _end_pre(self) -> None:
        self._pre -= 1
        if self._pre == 0:
            code = "".join(self._text)
            self._text = []
            self._write_items()
            self._builder.text(markdown.fenced(code, self._language) if code.strip() else "")
            self._language = ""

    # -- lists -----------------------------------------------------------------------------------

    def _start_list(self, _: Mapping[str, str]) -> None:
        if not self._in_cell():
            self._lists.start(numbered=self._open[-1] == "ol")

    def _start_item(self, _: Mapping[str, str]) -> None:
        if self._in_cell():
            before = "".join(self._text).rstrip()
            self._text = [before, "; " if before else ""]
        else:
            self._lists.item()

    def _start_definition(self, _: Mapping[str, str]) -> None:
        if not self._in_cell():
            self._lead = "- "

    def _end_list(self) -> None:
        self._end_block()
        if self._lists and not self._in_cell():
            self._lists.end()
            if not self._lists:
                self._write_items()

    def _write_items(self) -> None:
        self._builder.text(self._lists.take())

    # -- tables ----------------------------------------------------------------------------------

    def _in_cell(self) -> bool:
        return bool(self._tables) and self._tables[-1].in_cell and not self._tables[-1].is_layout

    def _leave_tables(self) -> None:
        """What is in the open tables' cells is no cell's text: they are there for the layout."""
        for table in reversed(self._tables):
            if table.is_layout:
                break  # So are those around it.
            table.is_layout = True
            for row in table.take():
                self._builder.text(markdown.plain(" ".join(text for text in row if text)))
        self._end_block()

    def _start_table(self, _: Mapping[str, str]) -> None:
        if self._in_cell():
            self._leave_tables()
        self._write_items()
        self._tables.append(HtmlTable())

    def _start_row(self, _: Mapping[str, str]) -> None:
        if self._tables:
            self._tables[-1].start_row()

    def _start_cell(self, attributes: Mapping[str, str]) -> None:
        if self._tables:
            self._tables[-1].start_cell(attributes)

    def _end_cell(self) -> None:
        if self._in_cell():
            self._tables[-1].end_cell(self._take().replace("\n", " "))
        else:
            self._end_block()

    def _end_row(self) -> None:
        self._end_block()
        if self._tables:
            self._tables[-1].end_row()

    def _end_table(self) -> None:
        if self._in_cell():
            self._end_cell()
        self._end_block()
        if self._tables:
            rows = self._tables.pop().take()
            if len(rows) == 1:
                for text in rows[0]:
                    self._builder.text(markdown.plain(text))
            else:
                write_grid(rows, self._builder)


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    if not attributes:
        return False
    hidden = "hidden" in attributes or attributes.get("aria-hidden") == "true"
    return hidden or _HIDDEN.search(attributes.get("style") or "") is not None


def _language(attributes: Mapping[str, str]) -> str:
    match = _LANGUAGE.search(attributes.get("class") or "")
    return match.group(1).lower() if match else ""
