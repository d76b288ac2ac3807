"""Cutting a text that is too long: at sentence marks, then at commas, then between words, then anywhere.

Never inside a link or inline code that fits in a chunk, and never inside a character as a reader sees it
(an emoji with its skin tone, a letter with its accents).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

import regex

from retrieval.ingest.atoms import Cut
from retrieval.ingest.tokens import count, estimate

# Possessive quantifiers and bounded ones keep each pattern linear on any input.
_BOUNDARIES: dict[Cut, re.Pattern[str]] = {
    Cut.SENTENCE: re.compile(
        r"(?<=[.!?…])(?<!\b\w\.)(?<!\b\d\d\.)"  # not after "e.g.", "J." or the "31." of a date
        r"[\"'”’»)\]*_]{0,4}(?:\[\d{1,3}\]){0,3}\s++(?=\S)"
        r"|[。！？｡]++[」』”’）】》]*+\s*+"  # Chinese, Japanese
        r"|[।॥۔؟؛။၊།༎።᥄๚๛។៕։]++\s*+"  # Devanagari, Arabic, Burmese, Tibetan, Ethiopic, Khmer, Armenian
        r"|(?<=[\u0e00-\u0eff])[ \n]++(?=[\u0e00-\u0eff])"  # Thai and Lao write a space between sentences
        r"|\n(?=[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t])"  # an item inside an item
    ),
    Cut.CLAUSE: re.compile(r"(?<=[,;:–—])\s++|[，、；：،﹐﹑]++\s*+|\n++"),
    Cut.WORD: re.compile(r"\s++|\u200b++"),  # Khmer and some Thai mark words with U+200B
}
_PROTECTED = re.compile(
    r"!?\[[^\[\]\n]{0,300}\]\([^()\[\]\s<>]{0,2000}(?:\([^()\[\]\s<>]{0,200}\)[^()\[\]\s<>]{0,500})?\)"
    r"|<[^<>\s]{1,500}>"
    r"|(?<!`)(`{1,3}+)(?!`)[^`\n]{1,300}\1(?!`)"
)
#: The longest text that `_PROTECTED` matches, rounded up.
_MAX_PROTECTED = 3_100
#: A longer text is read in windows of this many characters, so that no step takes long.
_WINDOW = 32_768
_GRAPHEME = regex.compile(r"\X")


class Piece(NamedTuple):
    text: str
    tokens: int
    #: How well the text can be cut in front of this piece.
    cut: Cut


def split(text: str, budget: int, first: Cut) -> Iterator[Piece]:
    """Contiguous pieces of at most `budget` tokens, together the whole text.

    A text that fits is one piece. `first` is the cut in front of the text. Lazy, and linear in the text.
    """
    tokens = count(text, budget)
    if tokens is not None:
        yield Piece(text, tokens, first)
        return
    start = 0
    while len(text) - start > _WINDOW:
        # What lies within the longest link of the window's end may be cut wrongly: it is read again.
        window = text[start : start + _WINDOW]
        done = 0
        for piece in _Splitter(window, budget).pieces(first):
            if done and done + len(piece.text) > _WINDOW - _MAX_PROTECTED:
                break
            yield piece
            done += len(piece.text)
        start, first = start + done, Cut.CLAUSE
    yield from _Splitter(text[start:], budget).pieces(first)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text that is no longer than a chunk, stripped, as well as marks tell them."""
    for paragraph in text.split("\n\n"):
        start = 0
        for match in _BOUNDARIES[Cut.SENTENCE].finditer(paragraph):
            yield paragraph[start : match.end()].strip()
            start = match.end()
        yield paragraph[start:].strip()


class _Splitter:
    def __init__(self, text: str, budget: int) -> None:
        self._text = text
        self._budget = budget
        spans = [match.span() for match in _PROTECTED.finditer(text)]
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def pieces(self, first: Cut) -> Iterator[Piece]:
        return self._cut_at(Cut.SENTENCE, 0, len(self._text), first)

    def _cut_at(self, level: Cut, start: int, end: int, cut: Cut) -> Iterator[Piece]:
        """Pieces of text[start:end], cut at `level` or worse; `cut` is the one in front of it."""
        if level is Cut.ANYWHERE:
            yield from self._anywhere(start, end, cut)
            return
        for stop in self._parts(level, start, end):
            part = self._text[start:stop]
            tokens = count(part, self._budget)
            if tokens is not None:
                yield Piece(part, tokens, cut)
            else:
                yield from self._cut_at(Cut(level + 1), start, stop, cut)
            start, cut = stop, level

    def _parts(self, level: Cut, start: int, end: int) -> Iterator[int]:
        """The ends of the parts of text[start:end], the shortest ones gathered.

        Pieces as small as words would only be joined again. A character is a token at most, so what is
        gathered fits the budget.
        """
        grain = self._budget if level is Cut.WORD else self._budget // 8
        last = start
        for match in _BOUNDARIES[level].finditer(self._text, start, end):
            stop = match.end()
            if stop >= end:
                break
            if self._span(stop) is None and not _extends(self._text[stop]):
                if stop - start > grain and last > start:
                    yield last
                    start = last
                last = stop
        if end - start > grain and last > start:
            yield last
        yield end

    def _anywhere(self, start: int, end: int, cut: Cut) -> Iterator[Piece]:
        step = max(1, self._budget // 2)
        while start < end:
            stop = self._between_graphemes(start, min(start + step, end))
            if (span := self._span(stop)) is not None:
                before, after = span
                if before > start:
                    stop = before
                elif count(self._text[start:after], self._budget) is not None:
                    stop = min(after, end)
            part = self._text[start:stop]
            yield Piece(part, estimate(part), cut)
            start, cut = stop, Cut.ANYWHERE

    def _between_graphemes(self, start: int, stop: int) -> int:
        """The last end of a grapheme in (start, stop]; `stop` inside one that is longer than that."""
        # Whether two characters belong together can depend on what follows: look a little further.
        window = self._text[start : stop + 32]
        if window.isascii() or stop >= len(self._text):
            return stop
        best = 0
        for match in _GRAPHEME.finditer(window):
            if match.end() > stop - start:
                break
            best = match.end()
        return start + best if best else stop

    def _span(self, at: int) -> tuple[int, int] | None:
        """The protected span that a cut at `at` would divide."""
        i = bisect_left(self._starts, at) - 1
        if i < 0 or self._ends[i] <= at:
            return None
        return self._starts[i], self._ends[i]


def _extends(character: str) -> bool:
    """Whether a character belongs to the one before it."""
    return character > "\u02ff" and (unicodedata.category(character)[0] == "M" or character == "\u200d")
