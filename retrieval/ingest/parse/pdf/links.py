"""Links of a PDF page that lead out of the document."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from retrieval.ingest.parse.pdf.frame import Box, Frame

_SCHEMES = ("http://", "https://", "mailto:")
#: A page with more links than this is a generated index; its text says enough.
_MAX_LINKS = 2000
_MAX_URI_BYTES = 2048


class Link(NamedTuple):
    """Where a rectangle of the page leads."""

    uri: str
    box: Box

    def covers(self, x: float, y: float) -> bool:
        return self.box.left <= x <= self.box.right and self.box.top <= y <= self.box.bottom


def links_on(document: pdfium.PdfDocument, page: pdfium.PdfPage, frame: Frame) -> list[Link]:
    """Web and mail links; links within the document are left out."""
    found: list[Link] = []
    position = ctypes.c_int(0)
    link = pdfium_c.FPDF_LINK()
    rect = pdfium_c.FS_RECTF()
    while len(found) < _MAX_LINKS and pdfium_c.FPDFLink_Enumerate(page.raw, position, link):
        uri = _uri(document, link)
        if uri and pdfium_c.FPDFLink_GetAnnotRect(link, rect):
            found.append(Link(uri, frame.box(rect.left, rect.bottom, rect.right, rect.top)))
    return found


def _uri(document: pdfium.PdfDocument, link: Any) -> str | None:
    action = pdfium_c.FPDFLink_GetAction(link)
    if not action or pdfium_c.FPDFAction_GetType(action) != pdfium_c.PDFACTION_URI:
        return None
    buffer = ctypes.create_string_buffer(_MAX_URI_BYTES)
    length = pdfium_c.FPDFAction_GetURIPath(document.raw, action, buffer, _MAX_URI_BYTES)
    if not 1 < length <= _MAX_URI_BYTES:
        return None
    uri = buffer.value.decode("utf-8", "replace").strip()
    return uri if uri.lower().startswith(_SCHEMES) else None
