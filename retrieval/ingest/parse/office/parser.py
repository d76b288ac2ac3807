"""Office files and RTF to sections, with xberg."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import cast

import xberg

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.archive import Archive
from retrieval.ingest.parse.detect import Kind, detect
from retrieval.ingest.parse.meta import clean_title, parse_date
from retrieval.ingest.parse.office.nodes import Node, NodeWriter
from retrieval.ingest.parse.office.plain import OfficeTextParser
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.protocol import Unreadable

_OOXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."
_TYPES: dict[Kind, tuple[str, str]] = {
    "docx": (_OOXML + "wordprocessingml.document", "docx"),
    "pptx": (_OOXML + "presentationml.presentation", "pptx"),
    "xlsx": (_OOXML + "spreadsheetml.sheet", "xlsx"),
    "xlsb": ("application/vnd.ms-excel.sheet.binary.macroEnabled.12", "xlsb"),
    "odt": (_ODF + "text", "odt"),
    "ods": (_ODF + "spreadsheet", "ods"),
    "odp": (_ODF + "presentation", "odp"),
    "epub": ("application/epub+zip", "epub"),
    "rtf": ("application/rtf", "rtf"),
    "doc": ("application/msword", "doc"),
    "xls": ("application/vnd.ms-excel", "xls"),
    "ppt": ("application/vnd.ms-powerpoint", "ppt"),
    "msg": ("application/vnd.ms-outlook", "msg"),
    "pdf": ("application/pdf", "pdf"),
}
_IN_ZIP: frozenset[Kind] = frozenset({"docx", "pptx", "xlsx", "odt", "ods", "odp"})
_SLIDES: frozenset[Kind] = frozenset({"pptx", "ppt", "odp", "pdf"})
_ENCRYPTED = re.compile(r"encrypt|password|protected", re.I)
_TOO_LARGE = re.compile(r"too large|exceed|limit|bomb|budget", re.I)


class OfficeParser:
    """Word, PowerPoint, Excel, OpenDocument, RTF and Outlook messages.

    A file that xberg can't read but that is sound otherwise is read by `OfficeTextParser`, with a warning.
    """

    def __init__(self, limits: ParseLimits, name: str = "office") -> None:
        self._limits = limits
        self.name = name

    def parse(self, name: str, data: bytes) -> ParsedDocument:
        kind = detect(name, data, self._limits)
        if kind not in _TYPES:
            raise Unreadable("unsupported", f"{self.name} reads no {kind}")
        archive = Archive(data, self._limits) if kind in _IN_ZIP else None
        try:
            return self._read(kind, data)
        except Unreadable as refusal:
            if refusal.reason != "corrupt" or archive is None:
                raise
            document = OfficeTextParser(self._limits).parse(name, data)
            warning = "This file was read in a simpler way; its structure may be incomplete."
            return document.model_copy(update={"warnings": (*document.warnings, warning)})

    def _read(self, kind: Kind, data: bytes) -> ParsedDocument:
        result = _extract(kind, data, self._limits)
        builder = SectionBuilder(self._limits)
        paged = kind in _SLIDES
        if result.document and result.document.nodes:
            nodes = cast("Sequence[Node]", result.document.nodes)
            NodeWriter(nodes, builder, paged=paged).write()
        else:
            builder.text(result.content)
        stated = result.metadata
        pages = stated.pages.total_count if paged and stated.pages else None
        return ParsedDocument(
            sections=builder.build(),
            title=clean_title(stated.title or (stated.subject if kind == "msg" else None)),
            pages=pages,
            document_date=parse_date(stated.modified_at) or parse_date(stated.created_at),
            parser=f"{self.name}/1",
            warnings=_warnings(result),
        )


def _warnings(result: xberg.ExtractedDocument) -> tuple[str, ...]:
    mail = result.metadata.format.email if result.metadata.format else None
    if mail is None or not mail.attachments:
        return ()
    return (f"Attachments were not read: {', '.join(mail.attachments)}. Upload them on their own.",)


def _extract(kind: Kind, data: bytes, limits: ParseLimits) -> xberg.ExtractedDocument:
    media_type, ending = _TYPES[kind]
    source = xberg.ExtractInput(kind="bytes", bytes=data, mime_type=media_type, filename=f"file.{ending}")
    try:
        result = asyncio.run(xberg.extract(source, _config(limits)))
    except RuntimeError as error:
        raise _refusal(str(error)) from error
    except BaseException as error:
        # A panic of its native code is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise Unreadable("corrupt", "the native parser gave up") from error
    if not result.results:
        raise _refusal("; ".join(item.message for item in result.errors))
    return result.results[0]


def _refusal(message: str) -> Unreadable:
    if _ENCRYPTED.search(message):
        return Unreadable("encrypted", message[:200])
    if _TOO_LARGE.search(message):
        return Unreadable("too_large", message[:200])
    return Unreadable("corrupt", message[:200])


def _config(limits: ParseLimits) -> xberg.ExtractionConfig:
    """Footnotes on; no OCR, no network, no children; our own check stands in for the ratio check."""
    return xberg.ExtractionConfig(
        use_cache=False,
        enable_quality_processing=False,
        disable_ocr=True,
        include_document_structure=True,
        output_format="markdown",
        max_archive_depth=0,
        pages=xberg.PageConfig(extract_pages=True, insert_page_markers=False),
        content_filter=xberg.ContentFilterConfig(
            include_headers=False, include_footers=False, include_footnotes=True, strip_repeating_text=False
        ),
        security_limits=xberg.SecurityLimits(
            max_compression_ratio=1_000_000,
            max_archive_size=limits.max_unpacked_bytes,
            max_files_in_archive=limits.max_archive_entries,
            max_nesting_depth=limits.max_depth,
            max_xml_depth=1024,
            max_table_cells=5_000_000,
            max_pages=limits.max_pages,
        ),
    )
