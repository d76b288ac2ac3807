"""The main content of a web page, as trafilatura finds it, put into HTML events."""

from __future__ import annotations

from typing import Any, cast

import trafilatura
from lxml import etree

from retrieval.ingest.parse.html.writer import HtmlWriter
from retrieval.ingest.parse.xml import local

#: From trafilatura's TEI-like names to HTML's.
_TAGS = {
    "head": "h2", "list": "ul", "item": "li", "row": "tr", "cell": "td", "ref": "a", "quote": "blockquote",
    "lb": "br", "graphic": "img", "hi": "span", "del": "span", "ab": "div",
}  # fmt: skip


class Article:
    """The tree that trafilatura extracts from a page."""

    def __init__(self, body: etree._Element) -> None:  # pyright: ignore[reportPrivateUsage]
        self._body = body
        self.chars = sum(len(str(text).strip()) for text in body.itertext())

    @classmethod
    def of(cls, page: str, *, recall: bool = False) -> Article | None:
        """None when it finds nothing, or fails: it is made for pages that people publish."""
        try:
            found: Any = trafilatura.bare_extraction(
                page,
                include_comments=False,
                include_tables=True,
                include_links=True,
                include_formatting=True,
                favor_recall=recall,
            )
        except Exception:
            return None
        return None if found is None or found.body is None else cls(found.body)

    def replay(self, writer: HtmlWriter) -> None:
        """Sends the article's elements and texts to `writer`."""
        for event, node in etree.iterwalk(self._body, events=("start", "end", "comment", "pi")):
            if event in ("comment", "pi"):
                writer.data(node.tail or "")
                continue
            tag = _html_tag(node)
            if event == "start":
                writer.start(tag, _attributes(node))
                writer.data(node.text or "")
            else:
                writer.end(tag)
                if node is not self._body:
                    writer.data(node.tail or "")
        writer.close()


def _html_tag(node: Any) -> str:
    tag, rend = local(node.tag), str(node.get("rend") or "")
    if tag == "head":
        return rend if len(rend) == 2 and rend[0] == "h" and rend[1] in "123456" else "h2"
    if tag == "list":
        return "ol" if rend == "ol" else "dl" if rend == "dl" else "ul"
    if tag == "item" and rend[:2] in ("dt", "dd"):
        return rend[:2]
    if tag == "code" and "\n" in "".join(node.itertext()):
        return "pre"
    return _TAGS.get(tag, tag)


def _attributes(node: Any) -> dict[str, str]:
    given = cast("dict[str, str]", dict(node.attrib))
    if "target" in given:
        given["href"] = given.pop("target")
    return given
