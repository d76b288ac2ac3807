"""From PDFium's characters to the printed lines of a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from retrieval.ingest.parse.pdf.frame import Box, Frame
from retrieval.ingest.parse.pdf.glyphs import Glyphs, Look
from retrieval.ingest.parse.pdf.line import Line, Page, Word
from retrieval.ingest.parse.pdf.links import Link, links_on

#: Characters whose font is asked for, a line: each answer costs four calls into PDFium.
_SAMPLES = 5
_MAX_ANNOTATIONS = 5000
_ARABIC_MARKS = "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"


@dataclass(slots=True)
class _Piece:
    """A line, or what PDFium takes for one: words with their places, and how it looks."""

    words: list[tuple[str, Box]]
    look: Look
    broken: bool

    def line(self, links: list[Link]) -> Line:
        return Line.of(
            [Word(text, box.left, box.right, _link_at(box, links)) for text, box in self.words],
            top=min([box.top for _, box in self.words]),
            bottom=max([box.bottom for _, box in self.words]),
            **self.look._asdict(),
            broken=self.broken,
        )


def read_page(document: pdfium.PdfDocument, index: int) -> Page:
    """The page at `index` (from 0). Raises `pdfium.PdfiumError` when it is damaged."""
    page = document[index]
    try:
        frame = Frame.of(page)
        links = links_on(document, page, frame)
        if _has_fields(page):
            # What is written in form fields and text boxes becomes part of the page's text.
            pdfium_c.FPDFPage_Flatten(page.raw, pdfium_c.FLAT_NORMALDISPLAY)
            page.close()
            page = document[index]
        text = page.get_textpage()
        try:
            lines = [piece.line(links) for piece in _merge(_pieces(Glyphs(text.raw, frame)))]
        finally:
            text.close()
        scanned = not lines and _has_pictures(page)
        return Page(index + 1, frame.width, frame.height, lines, scanned)
    finally:
        page.close()


def _has_fields(page: pdfium.PdfPage) -> bool:
    for at in range(min(pdfium_c.FPDFPage_GetAnnotCount(page.raw), _MAX_ANNOTATIONS)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page.raw, at)
        kind = pdfium_c.FPDFAnnot_GetSubtype(annotation)
        pdfium_c.FPDFPage_CloseAnnot(annotation)
        if kind in (pdfium_c.FPDF_ANNOT_WIDGET, pdfium_c.FPDF_ANNOT_FREETEXT):
            return True
    return False


def _has_pictures(page: pdfium.PdfPage) -> bool:
    pictures = page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3)
    return next(iter(pictures), None) is not None


def _link_at(box: Box, links: list[Link]) -> str | None:
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return next((link.uri for link in links if link.covers(x, y)), None)


def _pieces(glyphs: Glyphs) -> Iterator[_Piece]:
    """Lines as PDFium ends them, and also where a word stands lower and further left than the last."""
    words: list[tuple[str, Box]] = []
    indices: list[int] = []
    for token in glyphs.tokens():
        if not token.text:
            if words:
                yield _Piece(words, _look(glyphs, indices), token.hyphen)
                words, indices = [], []
            continue
        box = glyphs.box(token.first, token.last)
        if words:
            text, last = words[-1]
            if token.text[0] in _ARABIC_MARKS and len(token.text) > 1:
                # PDFium puts a space and the mark of a letter before that letter.
                joined = text + token.text[1] + token.text[0] + token.text[2:]
                words[-1] = joined, last._replace(left=min(last.left, box.left))
                continue
            if box.left < last.left and box.top > last.bottom - 0.2 * (box.bottom - box.top):
                yield _Piece(words, _look(glyphs, indices), broken=False)
                words, indices = [], []
        words.append((token.text, box))
        indices.extend(range(token.first, token.last + 1))
    if words:
        yield _Piece(words, _look(glyphs, indices), broken=False)


def _look(glyphs: Glyphs, indices: list[int]) -> Look:
    """How most of some characters look. Bold must begin and end so."""
    step = max(1, (len(indices) - 1) // _SAMPLES)
    looks = [glyphs.look(index) for index in (*indices[:-1:step], indices[-1])]
    sizes = [look.size for look in looks]
    bold = [look.bold for look in looks]
    return Look(
        size=max(set(sizes), key=sizes.count),
        bold=bold[0] and bold[-1] and sum(bold) >= 0.8 * len(bold),
        mono=sum([look.mono for look in looks]) >= 0.8 * len(looks),
        rotated=sum([look.rotated for look in looks]) > len(looks) / 2,
    )


def _merge(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """Joins pieces of one printed line that PDFium tells apart (a coloured link, a footnote mark)."""
    last: _Piece | None = None
    for piece in pieces:
        if last is not None and _goes_on(last, piece):
            last = _joined(last, piece)
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last


def _goes_on(last: _Piece, piece: _Piece) -> bool:
    if last.broken or last.look.rotated or piece.look.rotated:
        return False
    before, after = last.words[-1][1], piece.words[0][1]
    overlap = min(before.bottom, after.bottom) - max(before.top, after.top)
    smaller = min(before.bottom - before.top, after.bottom - after.top)
    gap = after.left - before.right
    return overlap > 0.6 * smaller and -0.2 * piece.look.size < gap < 1.2 * piece.look.size


def _joined(last: _Piece, piece: _Piece) -> _Piece:
    (left, before), (right, after) = last.words[-1], piece.words[0]
    if after.left - before.right < 0.12 * piece.look.size:
        words = [*last.words[:-1], (left + right, before._replace(right=after.right)), *piece.words[1:]]
    else:
        words = [*last.words, *piece.words]
    longer = max(last, piece, key=lambda one: sum(len(text) for text, _ in one.words))
    look = Look(
        longer.look.size,
        bold=last.look.bold and piece.look.bold,
        mono=last.look.mono and piece.look.mono,
        rotated=False,
    )
    return _Piece(words, look, piece.broken)
