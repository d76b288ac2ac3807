"""XML: documents and feeds as text under their titles, everything else as code."""

from __future__ import annotations

import re

from lxml import etree

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.html.parser import write_html
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.parse.text.plain import CodeParser
from retrieval.ingest.parse.xml import local, parse_xml
from retrieval.ingest.protocol import Unreadable

#: A file with a smaller share of text between its tags is data or settings.
_TEXT_SHARE = 0.4
_TITLES = frozenset({"title", "head", "heading"})
_PROSE = frozenset(
    {"p", "para", "text", "content", "description", "abstract", "body", "summary", "item", "li"}
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
Element = etree._Element  # pyright: ignore[reportPrivateUsage]


class XmlParser:
    """Decides by the share of text. What is not well-formed is code."""

    name = "xml"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:
        try:
            root = parse_xml(data)
        except Unreadable:
            return CodeParser(self._limits).parse(name, data)
        if sum(len(str(text).strip()) for text in root.itertext()) < _TEXT_SHARE * len(data):
            return CodeParser(self._limits).parse(name, data)
        builder = SectionBuilder(self._limits)
        _write(root, builder)
        return ParsedDocument(sections=builder.build(), parser=f"{self.name}/1")


def _write(root: Element, builder: SectionBuilder) -> None:
    pending = [(root, 1)]
    while pending:
        node, depth = pending.pop()
        tag = local(node.tag)
        if not tag:
            continue
        mixed = (node.text or "").strip() or any((child.tail or "").strip() for child in node)
        if len(node) and not mixed:
            pending.extend((child, depth + 1) for child in reversed(node))
            continue
        text = "".join(map(str, node.itertext())).strip()
        if tag in _TITLES:
            builder.heading(depth, text)
        elif _TAG.search(text):
            write_html(text, builder)
        elif text:
            said = " ".join(text.split())
            builder.text(markdown.plain(said if tag in _PROSE or len(node) else f"{tag}: {said}"))
