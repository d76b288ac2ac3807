"""Printed lines of a PDF page with what their looks tell: place, size, weight, gaps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from retrieval.ingest.parse.pdf.frame import Frame
from retrieval.ingest.parse.pdf.glyphs import Glyphs
from retrieval.ingest.parse.pdf.links import links_on

#: Characters whose font is asked for, a line: each answer costs four calls into PDFium.
_SAMPLES = 5
_MAX_ANNOTATIONS = 5000
_ARABIC_MARKS = "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"


@dataclass(slots=True)
class Word:
    """A run of characters without a space. In points from the page's upper left corner."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    link: str | None = None


@dataclass(slots=True)
class Line:
    """One printed line. In points from the page's upper left corner."""

    words: list[Word]
    size: float
    bold: bool
    #: Every letter is as wide as every other, as in code.
    mono: bool
    rotated: bool
    #: The last word goes on in the next line; a hyphen stood between the two parts.
    broken: bool = False
    text: str = field(init=False)
    x0: float = field(init=False)
    x1: float = field(init=False)
    top: float = field(init=False)
    bottom: float = field(init=False)

    def __post_init__(self) -> None:
        self.text = " ".join([word.text for word in self.words])
        self.x0 = min([word.x0 for word in self.words])
        self.x1 = max([word.x1 for word in self.words])
        self.top = min([word.top for word in self.words])
        self.bottom = max([word.bottom for word in self.words])

    @property
    def height(self) -> float:
        return max(self.bottom - self.top, 0.1)


@dataclass(slots=True)
class Page:
    """Lines in reading order. `number` counts from 1; `width` and `height` in points."""

    number: int
    width: float
    height: float
    lines: list[Line]
    #: There is no text, but at least one picture: likely a scan.
    scanned: bool = False


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
            lines = list(_merge(_lines(Glyphs(text.raw, frame))))
        finally:
            text.close()
        for link in links:
            for word in (word for line in lines for word in line.words):
                if link.covers((word.x0 + word.x1) / 2, (word.top + word.bottom) / 2):
                    word.link = link.uri
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
    return next(iter(page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3)), None) is not None


def _lines(glyphs: Glyphs) -> Iterator[Line]:
    """Lines as PDFium ends them, and also where a word stands lower and further left than the last."""
    words: list[Word] = []
    indices: list[int] = []
    for token in glyphs.tokens():
        if not token.text:
            if words:
                yield _line(glyphs, words, indices, broken=token.hyphen)
                words, indices = [], []
            continue
        box = glyphs.box(token.first, token.last)
        if words and token.text[0] in _ARABIC_MARKS and len(token.text) > 1:
            # PDFium puts a space and the mark of a letter before that letter.
            words[-1].text += token.text[1] + token.text[0] + token.text[2:]
            words[-1].x0 = min(words[-1].x0, box.left)
            continue
        if words and box.left < words[-1].x0 and box.top > words[-1].bottom - 0.2 * (box.bottom - box.top):
            yield _line(glyphs, words, indices, broken=False)
            words, indices = [], []
        words.append(Word(token.text, box.left, box.right, box.top, box.bottom))
        indices.extend(range(token.first, token.last + 1))
    if words:
        yield _line(glyphs, words, indices, broken=False)


def _line(glyphs: Glyphs, words: list[Word], indices: list[int], *, broken: bool) -> Line:
    step = max(1, (len(indices) - 1) // _SAMPLES)
    looks = [glyphs.look(index) for index in (*indices[:-1:step], indices[-1])]
    sizes = [look.size for look in looks]
    bold = [look.bold for look in looks]
    return Line(
        words=words,
        size=max(set(sizes), key=sizes.count),
        bold=bold[0] and bold[-1] and sum(bold) >= 0.8 * len(bold),
        mono=sum([look.mono for look in looks]) >= 0.8 * len(looks),
        rotated=sum([look.rotated for look in looks]) > len(looks) / 2,
        broken=broken,
    )


def _merge(lines: Iterator[Line]) -> Iterator[Line]:
    """Joins pieces of one printed line that PDFium tells apart (a coloured link, a footnote mark)."""
    last: Line | None = None
    for line in lines:
        if last is not None and _go_on(last, line):
            last = _joined(last, line)
            continue
        if last is not None:
            yield last
        last = line
    if last is not None:
        yield last


def _go_on(last: Line, line: Line) -> bool:
    if last.broken or last.rotated or line.rotated:
        return False
    before, after = last.words[-1], line.words[0]
    overlap = min(before.bottom, after.bottom) - max(before.top, after.top)
    smaller = min(before.bottom - before.top, after.bottom - after.top)
    gap = after.x0 - before.x1
    return overlap > 0.6 * smaller and -0.2 * line.size < gap < 1.2 * line.size


def _joined(last: Line, line: Line) -> Line:
    before, after = last.words[-1], line.words[0]
    if after.x0 - before.x1 < 0.12 * line.size:
        glued = Word(before.text + after.text, before.x0, after.x1, before.top, before.bottom, before.link)
        words = [*last.words[:-1], glued, *line.words[1:]]
    else:
        words = [*last.words, *line.words]
    longer = last if len(last.text) >= len(line.text) else line
    return Line(
        words,
        longer.size,
        last.bold and line.bold,
        last.mono and line.mono,
        rotated=False,
        broken=line.broken,
    )
