"""A second reader of OOXML and OpenDocument: every paragraph in its order, headings and table rows told."""

from __future__ import annotations

import re
from datetime import datetime

from lxml import etree

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.archive import Archive
from retrieval.ingest.parse.detect import Kind, detect
from retrieval.ingest.parse.grid import write_grid
from retrieval.ingest.parse.meta import clean_title, parse_date
from retrieval.ingest.parse.office.slides import slide_names
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
                _write(parse_xml(content), builder)
        title, date = _stated(archive)
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


def _write(root: Element, builder: SectionBuilder) -> None:
    """Paragraphs one by one, tables whole. Iterative, since files decide how deep they go."""
    pending = [root]
    while pending:
        node = pending.pop()
        tag = local(node.tag)
        if tag in ("p", "h"):
            text = _text(node)
            if level := _level(node):
                builder.heading(level, text)
            else:
                builder.text(markdown.plain(text))
        elif tag in ("tbl", "table"):
            if name := _sheet_name(node):
                builder.heading(1, name)
            write_grid([_row(row) for row in node.iter() if local(row.tag) in ("tr", "table-row")], builder)
        else:
            pending.extend(reversed(node))


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
        return " ".join("".join(str(text) for text in paragraph.itertext()).split())
    parts: list[str] = []
    for node in paragraph.iter():
        tag = local(node.tag)
        parts.append(node.text or "" if tag == "t" else " " if tag in ("tab", "br", "cr") else "")
    return "".join(parts).strip()


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


def _stated(archive: Archive) -> tuple[str | None, datetime | None]:
    """Title and date from the properties."""
    found: dict[str, str] = {}
    for part in ("docProps/core.xml", "meta.xml"):
        if (data := archive.read(part)) is not None:
            found |= {local(node.tag): node.text or "" for node in parse_xml(data).iter() if not len(node)}
    date = found.get("modified") or found.get("date") or found.get("created") or found.get("creation-date")
    return clean_title(found.get("title")), parse_date(date)
