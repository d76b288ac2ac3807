"""Characters of a PDF page as PDFium tells them: words with their boxes, and how they look."""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium_c

from retrieval.ingest.parse.pdf.frame import Box, Frame

#: PDFium puts one of these where a word was broken at the end of a line.
_LINE_HYPHENS = "\x02\ufffe"
_TOKEN = re.compile(rf"[^\s{_LINE_HYPHENS}]+|[\r\n{_LINE_HYPHENS}]")
#: Marks without a shape of their own, and characters that PDFium could not map.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd\xad\u200b\ufeff]")
#: Ligatures, Arabic presentation forms (not the phrases from U+FDFA on), radicals that look like words.
_LOOKALIKES = re.compile(r"[\ufb00-\ufdf9\ufe70-\ufefc\u2e80-\u2fdf\uf900-\ufaff]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
#: Bullets of symbol fonts without a Unicode mapping, by their private-use code.
_SYMBOLS = {0xF0B7: "•", 0xF0A7: "▪", 0xF0D8: "➢", 0xF0FC: "✓", 0xF0E0: "→", 0xF02D: "-"}
#: An alef before a lam; when one glyph draws both, PDFium has turned the ligature's parts round.
_TURNED_LIGATURE = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
#: Where PDFium loses the space between a Latin word and the Arabic one after it.
_SCRIPT_CHANGE = re.compile("(?<=[A-Za-z])(?=[\u0620-\u064a])")
_BOLD_NAME = re.compile(rb"bold|black|heavy|demi|cmbx|-bd\b|medi\b", re.I)
_BOLD_WEIGHT = 600
_MONO_NAME = re.compile(rb"mono|courier|consol|menlo|cmtt|typewriter|-tt\b", re.I)


class Token(NamedTuple):
    """A word, a line end (`text` is empty) or a line end inside a word (`hyphen`)."""

    text: str
    first: int
    last: int
    hyphen: bool = False


class Look(NamedTuple):
    """Size in points on the page; `rotated` when the text does not run level."""

    size: float
    bold: bool
    mono: bool
    rotated: bool


class Glyphs:
    """The character interface of one PDFium text page (its raw handle); valid while the page is open."""

    def __init__(self, text_page: Any, frame: Frame) -> None:
        self._handle = text_page
        self._frame = frame
        self._box = pdfium_c.FS_RECTF()
        self._matrix = pdfium_c.FS_MATRIX()
        self._flags = ctypes.c_int()
        self._name = ctypes.create_string_buffer(128)
        self._looks: dict[int, Look] = {}

    def tokens(self) -> Iterator[Token]:
        """Words and line ends in PDFium's order."""
        text = self._text()
        for match in _TOKEN.finditer(text):
            word = match.group()
            if word in "\r\n":
                yield Token("", match.start(), match.start())
            elif word in _LINE_HYPHENS:
                yield Token("", match.start(), match.start(), hyphen=True)
            else:
                for part in _readable(self._turn_back(word, match.start())).split():
                    yield Token(part, match.start(), match.end() - 1)

    def _text(self) -> str:
        """All characters, at the same places as PDFium counts them."""
        count = pdfium_c.FPDFText_CountChars(self._handle)
        units = (ctypes.c_ushort * (count + 1))()
        written = pdfium_c.FPDFText_GetText(self._handle, 0, count, units)
        text = bytes(units)[: 2 * max(written - 1, 0)].decode("utf-16-le", "surrogatepass")
        if len(text) == count:
            return text
        # Characters beyond the first plane, or without a meaning: one by one, which takes much longer.
        get = pdfium_c.FPDFText_GetUnicode
        return "".join([chr(get(self._handle, index)) for index in range(count)])

    def box(self, first: int, last: int) -> Box:
        """The space taken by the characters from `first` to `last` of one line."""
        box = self._box
        pdfium_c.FPDFText_GetLooseCharBox(self._handle, first, box)
        left, right, top, bottom = box.left, box.right, box.top, box.bottom
        if last != first:
            pdfium_c.FPDFText_GetLooseCharBox(self._handle, last, box)
            left, right = min(left, box.left), max(right, box.right)
            top, bottom = max(top, box.top), min(bottom, box.bottom)
        return self._frame.box(left, bottom, right, top)

    def look(self, index: int) -> Look:
        """How one character looks; all of one text object look alike."""
        drawn = pdfium_c.FPDFText_GetTextObject(self._handle, index)
        if not drawn:
            return self._look(index)
        key = ctypes.addressof(drawn.contents)
        look = self._looks.get(key)
        if look is None:
            look = self._looks[key] = self._look(index)
        return look

    def _look(self, index: int) -> Look:
        size, rotated = pdfium_c.FPDFText_GetFontSize(self._handle, index), False
        m = self._matrix
        if pdfium_c.FPDFText_GetMatrix(self._handle, index, m):
            size *= math.hypot(m.c, m.d)
            rotated = not self._frame.is_level(m.a, m.b)
        bold, mono = pdfium_c.FPDFText_GetFontWeight(self._handle, index) >= _BOLD_WEIGHT, False
        if pdfium_c.FPDFText_GetFontInfo(self._handle, index, self._name, 128, self._flags):
            bold = bold or _BOLD_NAME.search(self._name.value) is not None
            mono = _MONO_NAME.search(self._name.value) is not None
        return Look(round(size * 2) / 2, bold, mono, rotated)

    def _turn_back(self, word: str, first: int) -> str:
        """Puts the lam of a lam-alef ligature back before its alef."""
        if word.isascii():
            return word
        for match in _TURNED_LIGATURE.finditer(word):
            at = match.start()
            if self.box(first + at, first + at) == self.box(first + at + 1, first + at + 1):
                word = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        return word


def _readable(word: str) -> str:
    """Joins surrogate halves, undoes ligatures and presentation forms, drops what has no shape."""
    if word.isascii() and word.isprintable():
        return word
    if _SURROGATES.search(word):
        word = word.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    word = _SCRIPT_CHANGE.sub(" ", _UNSEEN.sub("", word).translate(_SYMBOLS))
    return _LOOKALIKES.sub(lambda match: unicodedata.normalize("NFKC", match.group()), word)
