"""From xberg's document tree to sections: headings, paragraphs, lists, tables, footnotes, links."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Protocol, cast

from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.grid import write_grid
from retrieval.ingest.parse.sections import SectionBuilder

#: Levels of a list in a list that are shown by indentation; deeper ones share the last.
_MAX_INDENT = 8
#: Rows and columns that one merged cell may cover in the table that we write.
_MAX_SPAN = 1000
_FOOTNOTE_MARK = re.compile(r"\[\^\w+\]")


class Annotation(Protocol):
    #: Byte offsets into the node's text as UTF-8.
    start: int
    end: int
    kind: object


class Node(Protocol):
    """A node of xberg's `DocumentStructure`."""

    content: object
    children: Sequence[int]
    parent: int | None
    page: int | None
    annotations: Sequence[Annotation]


class NodeWriter:
    """Writes nodes to a builder. With `paged`, each page is one of its own, such as a slide."""

    def __init__(self, nodes: Sequence[Node], builder: SectionBuilder, *, paged: bool) -> None:
        self._nodes = nodes
        self._builder = builder
        self._paged = paged
        self._page: int | None = None
        self._footnotes: list[str] = []

    def write(self) -> None:
        for index, node in enumerate(self._nodes):
            if node.parent is None:
                self._write(index)
        for note in self._footnotes:
            self._builder.text(note)

    def _turn_to(self, page: int) -> None:
        if self._paged and page != self._page:
            self._page = page
            self._builder.page(page, keep_path=False)

    def _write(self, top: int) -> None:
        pending = [top]
        while pending:
            index = pending.pop()
            node = self._nodes[index]
            content = _content(node)
            kind = content.get("node_type")
            if (page := node.page or self._first_page(index)) is not None:
                self._turn_to(page)
            if kind == "list":
                self._builder.text("\n".join(self._list(index)))
                continue
            self._leaf(str(kind), content, node)
            pending.extend(reversed(node.children))

    def _first_page(self, index: int) -> int | None:
        """A list tells no page, its items do."""
        for child in self._nodes[index].children:
            if (page := self._nodes[child].page) is not None:
                return page
        return None

    def _leaf(self, kind: str, content: dict[str, Any], node: Node) -> None:
        text = self._text(content, node)
        if kind == "heading":
            self._builder.heading(int(content.get("level") or 1), str(content.get("text") or ""))
        elif kind == "title":
            self._builder.heading(0, str(content.get("text") or ""))
        elif kind == "table":
            write_grid(_rows(content.get("grid") or {}), self._builder)
        elif kind == "code":
            self._builder.text(
                markdown.fenced(str(content.get("text") or ""), str(content.get("language") or ""))
            )
        elif kind == "image":
            self._builder.text(_picture(str(content.get("description") or "")))
        elif kind == "footnote":
            self._footnotes.append(markdown.plain(text.strip()))
        elif kind == "definition_item":
            self._builder.text(f"{content.get('term', '')}: {content.get('definition', '')}")
        elif text.startswith("!["):
            self._builder.text(_picture(text[2:].partition("](")[0]))
        elif kind == "metadata_block":
            entries = content.get("entries") or ()
            self._builder.text("\n".join(f"{entry['key']}: {entry['value']}" for entry in entries))
        elif kind not in ("group", "page_break"):
            self._builder.text(markdown.plain(text.strip()))

    def _list(self, index: int) -> list[str]:
        """Lines of a list and of the lists in it; iterative, since files decide how deep they go."""
        lines: list[str] = []
        pending = [(index, 0, "")]
        while pending:
            at, depth, mark = pending.pop()
            node, content = self._nodes[at], _content(self._nodes[at])
            is_list = content.get("node_type") == "list"
            if not is_list and (text := self._text(content, node).strip()):
                indent = "  " * min(depth, _MAX_INDENT)
                lines.append(f"{indent}{mark} " + text.replace("\n", f"\n{indent}  "))
            below: list[tuple[int, int, str]] = []
            number = 0
            for child in node.children:
                nested = _content(self._nodes[child]).get("node_type") == "list"
                number += not nested
                deeper = depth + (nested and (not is_list or bool(below) or depth > 0))
                below.append((child, deeper, f"{number}." if content.get("ordered") else "-"))
            pending.extend(reversed(below))
        return lines

    def _text(self, content: dict[str, Any], node: Node) -> str:
        text = _FOOTNOTE_MARK.sub("", _with_links(str(content.get("text") or ""), node.annotations))
        return text.replace("**", "") if self._paged else text


def _content(node: Node) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(str(node.content)))


def _picture(description: str) -> str:
    """What a picture's author says that it shows; file names and the like say nothing."""
    return description.strip() if len(description.split()) > 2 else ""


def _with_links(text: str, annotations: Sequence[Annotation]) -> str:
    links: list[tuple[int, int, str]] = []
    for annotation in annotations:
        kind = json.loads(str(annotation.kind))
        address = str(kind.get("url") or "") if kind.get("annotation_type") == "link" else ""
        if address.startswith(("http://", "https://", "mailto:")):
            links.append((annotation.start, annotation.end, address))
    if not links:
        return text
    raw, out, at = text.encode(), "", 0
    for start, end, address in sorted(links):
        if at <= start < end <= len(raw):
            out += raw[at:start].decode("utf-8", "ignore")
            out += markdown.link(raw[start:end].decode("utf-8", "ignore"), address)
            at = end
    return out + raw[at:].decode("utf-8", "ignore")


def _rows(grid: dict[str, Any]) -> list[list[str]]:
    """Texts by row and column; a cell merged over rows says its text in each of them."""
    rows = [[""] * int(grid.get("cols") or 0) for _ in range(int(grid.get("rows") or 0))]
    for cell in grid.get("cells") or ():
        row, column = int(cell["row"]), int(cell["col"])
        for covered in range(row, min(row + min(int(cell.get("row_span") or 1), _MAX_SPAN), len(rows))):
            if column < len(rows[covered]) and not rows[covered][column]:
                rows[covered][column] = str(cell["content"])
    return rows
