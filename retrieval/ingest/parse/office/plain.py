"""A second reader of OOXML and OpenDocument: every paragraph in its order, headings and table rows told."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.archive import Archive
from retrieval.ingest.parse.detect import Kind, detect
from retrieval.ingest.parse.grid import write_grid
from retrieval.ingest.parse.office.package import slide_names, stated
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.parse.xml import local, parse_xml
from retrieval.ingest.protocol import Unreadable

_HEADING_STYLE = re.compile(r"(?:heading|title|berschrift|titre|título)\s*(\d?)", re.IGNORECASE)
_SHEET = re.compile(r"xl/worksheets/sheet(\d+)\.xml")
_ODF = "urn:oasis:names:tc:opendocument"
Element = etree._Element  # pyright: ignore[reportPrivateUsage]


class OfficeTextParser:
    """DOCX, PPTX, XLSX, ODT, ODS and ODP by their XML alone."""

    name = "office-text"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:
        kind = detect(name, data, self._limits)
        archive = Archive(data, self._limits) if data.startswith(b"PK") else None
        if archive is None or kind not in ("docx", "pptx", "xlsx", "odt", "ods", "odp"):
            raise Unreadable("unsupported", f"{self.name} reads no {kind}")
        builder = SectionBuilder(self._limits)
        pages: int | None = None
        for number, part in enumerate(_parts(kind, archive), 1):
            content = archive.read(part)
            if content is None:
                continue
            if kind == "pptx":
                pages = number
                builder.page(number, keep_path=False)
            if kind == "xlsx":
                _write_sheet(parse_xml(content), _shared_strings(archive), builder)
            else:
                pages = _write(parse_xml(content), builder) or pages
        title, date = stated(archive)
        return ParsedDocument(
            sections=builder.build(), title=title, pages=pages, document_date=date, parser=f"{self.name}/1"
        )


def _parts(kind: Kind, archive: Archive) -> list[str]:
    if kind == "docx":
        return ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"]
    if kind == "pptx":
        return slide_names(archive)
    if kind == "xlsx":
        sheets = [match for match in map(_SHEET.fullmatch, archive.names) if match]
        return [match.group() for match in sorted(sheets, key=lambda match: int(match.group(1)))]
    return ["content.xml"]


def _write(root: Element, builder: SectionBuilder) -> int:
    """Paragraphs one by one, lists and tables whole; returns the slides seen.

    Iterative, since files decide how deep they go.
    """
    slides = 0
    pending = [root]
    while pending:
        node = pending.pop()
        tag = local(node.tag)
        if tag == "page":
            slides += 1
            builder.page(slides, keep_path=False)
        if tag in ("p", "h"):
            if level := _level(node):
                builder.heading(level, _text(node))
            else:
                builder.text(markdown.plain(_text(node)))
        elif tag in ("sp", "frame") and _is_title(node):
            builder.heading(1, " ".join(_text(below) for below in _paragraphs(node)))
        elif tag == "list":
            builder.text("\n".join(f"- {text}" for below in _paragraphs(node) if (text := _text(below))))
        elif tag == "notes":
            said = "\n".join(text for below in _paragraphs(node) if (text := _text(below)))
            builder.text(f"Notes: {said}" if said else "")
        elif tag in ("tbl", "table"):
            if name := _sheet_name(node):
                builder.heading(1, name)
            write_grid([_row(row) for row in node.iter() if local(row.tag) in ("tr", "table-row")], builder)
        else:
            pending.extend(reversed(node))
    return slides


def _is_title(shape: Element) -> bool:
    """Whether this is the title of a slide, as PowerPoint or OpenDocument mark it."""
    kinds = [_attribute(node, "type") for node in shape.iter() if local(node.tag) == "ph"]
    return _attribute(shape, "class") == "title" or any(kind in ("title", "ctrTitle") for kind in kinds)


def _paragraphs(node: Element) -> Iterator[Element]:
    return (below for below in node.iter() if local(below.tag) in ("p", "h"))


def _row(row: Element) -> list[str]:
    cells = [cell for cell in row if local(cell.tag) in ("tc", "table-cell", "covered-table-cell")]
    return [
        " ".join(_text(node) for node in cell.iter() if local(node.tag) in ("p", "h")) for cell in cells
    ]


def _sheet_name(table: Element) -> str:
    above = table.getparent()
    return _attribute(table, "name") if above is not None and local(above.tag) == "spreadsheet" else ""


def _text(paragraph: Element) -> str:
    if _ODF in str(paragraph.tag):
        return " ".join("".join(_odf_texts(paragraph)).split())
    parts: list[str] = []
    for node in paragraph.iter():
        tag = local(node.tag)
        parts.append(node.text or "" if tag == "t" else " " if tag in ("tab", "br", "cr") else "")
    return "".join(parts).strip()


def _odf_texts(paragraph: Element) -> Iterator[str]:
    """The texts in a paragraph; a footnote in it in brackets."""
    for event, node in etree.iterwalk(paragraph, events=("start", "end")):
        tag = local(node.tag)
        if event == "start":
            yield " (" if tag == "note-body" else " " if tag in ("s", "tab", "line-break") else ""
            yield (node.text or "") if tag != "note-citation" else ""
        else:
            yield ")" if tag == "note-body" else ""
            yield (node.tail or "") if node is not paragraph else ""


def _attribute(node: Element, name: str) -> str:
    return next((str(value) for key, value in node.attrib.items() if local(key) == name), "")


def _level(paragraph: Element) -> int:
    """1 for the highest heading; 0 for what is none."""
    if local(paragraph.tag) == "h":
        return int(_attribute(paragraph, "outline-level") or 1)
    style = next((_attribute(node, "val") for node in paragraph.iter() if local(node.tag) == "pStyle"), "")
    match = _HEADING_STYLE.match(style)
    return int(match.group(1) or 1) if match else 0


def _shared_strings(archive: Archive) -> list[str]:
    data = archive.read("xl/sharedStrings.xml")
    if data is None:
        return []
    return [
        "".join(node.text or "" for node in item.iter() if local(node.tag) == "t")
        for item in parse_xml(data)
    ]


def _write_sheet(root: Element, strings: list[str], builder: SectionBuilder) -> None:
    rows = (node for node in root.iter() if local(node.tag) == "row")
    write_grid([[_cell(node, strings) for node in row if local(node.tag) == "c"] for row in rows], builder)


def _cell(cell: Element, strings: list[str]) -> str:
    text = "".join(node.text or "" for node in cell.iter() if local(node.tag) in ("v", "t"))
    if cell.get("t") != "s":
        return text
    return strings[int(text)] if text.isdigit() and int(text) < len(strings) else ""
