"""PDF to sections, with PDFium: headings, paragraphs and tables, without running heads and feet."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.meta import clean_title, parse_date
from retrieval.ingest.parse.pdf.furniture import drop_furniture
from retrieval.ingest.parse.pdf.headings import Heading, find_headings
from retrieval.ingest.parse.pdf.line import Line, Page
from retrieval.ingest.parse.pdf.lines import read_page
from retrieval.ingest.parse.pdf.order import in_reading_order
from retrieval.ingest.parse.pdf.outline import read_outline
from retrieval.ingest.parse.pdf.text import Writer
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.protocol import Unreadable


class PdfParser:
    """Reads the text layer; a document without one is refused as empty."""

    name = "pdf"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        with opened(data, self._limits) as document:
            pages, warnings = _read(document)
            drop_furniture(pages)
            for page in pages:
                page.lines = in_reading_order(page.lines)
            headings = find_headings(pages, read_outline(document))
            writer, builder = Writer(pages), SectionBuilder(self._limits)
            for page in pages:
                builder.page(page.number)
                _write(page, headings, writer, builder)
            stated = document.get_metadata_dict()
            return ParsedDocument(
                sections=builder.build(),
                title=clean_title(stated.get("Title")) or _largest(pages, headings),
                pages=len(document),
                document_date=parse_date(stated.get("ModDate")) or parse_date(stated.get("CreationDate")),
                parser=f"{self.name}/1",
                warnings=warnings,
            )


class PdfTextParser:
    """The plain text of each page in the file's own order, nothing added and nothing taken away."""

    name = "pdf-text"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        with opened(data, self._limits) as document:
            builder, damaged = SectionBuilder(self._limits), list[int]()
            for index in range(len(document)):
                builder.page(index + 1)
                try:
                    builder.text(document[index].get_textpage().get_text_range().replace("\r\n", "\n"))
                except pdfium.PdfiumError:
                    damaged.append(index + 1)
            stated = document.get_metadata_dict()
            return ParsedDocument(
                sections=builder.build(),
                title=clean_title(stated.get("Title")),
                pages=len(document),
                document_date=parse_date(stated.get("ModDate")) or parse_date(stated.get("CreationDate")),
                parser=f"{self.name}/1",
                warnings=_warnings(damaged, []),
            )


@contextmanager
def opened(data: bytes, limits: ParseLimits) -> Generator[pdfium.PdfDocument]:
    """The open document. Raises `Unreadable`: encrypted, corrupt, too_large."""
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        code = getattr(error, "err_code", None)
        encrypted = code in (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY)
        raise Unreadable("encrypted" if encrypted else "corrupt", f"PDFium error {code}") from error
    try:
        if len(document) > limits.max_pages:
            raise Unreadable("too_large", f"{len(document)} pages")
        yield document
    finally:
        document.close()


def _read(document: pdfium.PdfDocument) -> tuple[list[Page], tuple[str, ...]]:
    pages: list[Page] = []
    damaged: list[int] = []
    for index in range(len(document)):
        try:
            pages.append(read_page(document, index))
        except pdfium.PdfiumError:
            damaged.append(index + 1)
    if damaged and not pages:
        raise Unreadable("corrupt", "no page can be read")
    return pages, _warnings(damaged, [page.number for page in pages if page.scanned])


def _warnings(damaged: list[int], scanned: list[int]) -> tuple[str, ...]:
    told: list[str] = []
    if damaged:
        told.append(f"Could not be read: {_pages(damaged)}.")
    if scanned:
        where = _pages(scanned)
        told.append(f"No text but a picture: {where}. Run text recognition (OCR) to search there.")
    return tuple(told)


def _pages(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"page {numbers[0]}"
    shown = ", ".join(map(str, numbers[:10]))
    return f"pages {shown}" + (f" and {len(numbers) - 10} more" if len(numbers) > 10 else "")


def _write(page: Page, headings: dict[int, Heading], writer: Writer, builder: SectionBuilder) -> None:
    run: list[Line] = []
    taken: set[int] = set()
    for line in page.lines:
        if id(line) in taken:
            continue
        heading = headings.get(id(line))
        if heading is None:
            run.append(line)
            continue
        builder.text(writer.write(run))
        run = []
        builder.heading(heading.level, heading.text)
        taken.update(id(part) for part in heading.lines)
    builder.text(writer.write(run))


def _largest(pages: list[Page], headings: dict[int, Heading]) -> str | None:
    first = pages[0].lines if pages else []
    found = [headings[id(line)] for line in first if id(line) in headings]
    largest = max(found, key=lambda heading: heading.lines[0].size, default=None)
    return clean_title(largest.text) if largest else None
