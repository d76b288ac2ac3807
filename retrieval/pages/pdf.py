"""A page of a PDF as an image, and where on it a quote stands. Runs in a worker process: PDFium is
neither safe in threads nor sure to survive a hostile file."""

from __future__ import annotations

import io

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from retrieval.pages.marks import Box, find, lines

#: Pixels that an image may have; a page of poster size is drawn smaller.
MAX_PIXELS = 12_000_000


class NoSuchPage(Exception):
    """The document has no page of that number."""


def render(data: bytes, page: int, *, width: int) -> bytes:
    """PNG of a page (counted from 1), `width` pixels wide."""
    with pdfium.PdfDocument(data) as document:
        sheet = _page(document, page)
        across, down = sheet.get_size()
        scale = min(width / across, (MAX_PIXELS / (across * down)) ** 0.5)
        image = sheet.render(scale=scale, may_draw_forms=False).to_pil()
        out = io.BytesIO()
        image.save(out, "PNG")
        return out.getvalue()


def locate(data: bytes, page: int, quote: str) -> list[Box]:
    """One box a line of the quote, as far as it stands on that page; empty if it doesn't."""
    with pdfium.PdfDocument(data) as document:
        sheet = _page(document, page)
        text = sheet.get_textpage()
        count = text.count_chars()
        units = [raw.FPDFText_GetUnicode(text, i) for i in range(count)]
        found = find(quote, "".join(_character(unit) for unit in units))
        return lines([box for i in found if (box := _box(sheet, text, i)) is not None])


def _page(document: pdfium.PdfDocument, page: int) -> pdfium.PdfPage:
    if not 1 <= page <= len(document):
        raise NoSuchPage(f"page {page} of {len(document)}")
    return document[page - 1]


def _character(unit: int) -> str:
    """One character a unit, so that indices stay: halves of surrogate pairs and controls are blanks."""
    return chr(unit) if 32 <= unit < 0x110000 and not 0xD800 <= unit < 0xE000 else " "


def _box(sheet: pdfium.PdfPage, text: pdfium.PdfTextPage, index: int) -> Box | None:
    left, bottom, right, top = text.get_charbox(index, loose=True)
    if right <= left or top <= bottom:
        return None
    # To the page as it is drawn: the crop box is cut and the page turned.
    (x0, y0), (x1, y1) = (_device(sheet, x, y) for x, y in ((left, top), (right, bottom)))
    return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def _device(sheet: pdfium.PdfPage, x: float, y: float) -> tuple[float, float]:
    """Fractions of the drawn page for a point in page coordinates."""
    grid = 100_000
    px, py = raw.c_int(), raw.c_int()
    raw.FPDF_PageToDevice(sheet, 0, 0, grid, grid, 0, x, y, px, py)
    return _within(px.value / grid), _within(py.value / grid)


def _within(fraction: float) -> float:
    return min(1.0, max(0.0, fraction))
