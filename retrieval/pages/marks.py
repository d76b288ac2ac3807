"""Where words stand on a page: text found again by its letters and digits alone.

A passage has lost the line breaks, hyphens, ligatures and table rules of its page, so only letters and
digits are compared, after Unicode normalisation (NFKC) and case folding.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

#: Letters and digits that a piece of a quote needs to be looked for by itself.
MIN_PIECE = 10


@dataclass(frozen=True, slots=True)
class Box:
    """In fractions of the page, from its top left corner."""

    left: float
    top: float
    right: float
    bottom: float


def letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of `text`, normalised, and for each the index it comes from."""
    found: list[str] = []
    origin: list[int] = []
    for at, character in enumerate(text):
        for part in unicodedata.normalize("NFKC", character).casefold():
            if part.isalnum():
                found.append(part)
                origin.append(at)
    return "".join(found), origin


def find(quote: str, page: str) -> list[int]:
    """Indices into `page` of the characters of `quote`, in order; empty if it isn't there.

    The whole quote first, then its lines and sentences each by itself (a quote may run over two
    pages, or its table may have been set anew), then its longest beginning or end.
    """
    haystack, origin = letters(page)
    whole, _ = letters(_plain(quote))
    if not whole:
        return []
    spans = _occurrences(whole, haystack)
    if not spans:
        pieces = (letters(piece)[0] for piece in re.split(r"\n+|\||(?<=[.!?。！？])\s+", _plain(quote)))
        spans = [
            span for piece in pieces if len(piece) >= MIN_PIECE for span in _occurrences(piece, haystack)
        ]
    if not spans:
        spans = _ends(whole, haystack)
    return sorted({origin[i] for start, end in spans for i in range(start, end)})


def _plain(quote: str) -> str:
    """Without Markdown's link targets, which are not printed."""
    return re.sub(r"\]\([^()\s]{0,2000}\)", "]", quote)


def _occurrences(needle: str, haystack: str) -> list[tuple[int, int]]:
    at = haystack.find(needle)
    return [(at, at + len(needle))] if at >= 0 else []


def _ends(needle: str, haystack: str) -> list[tuple[int, int]]:
    """The longest beginning of `needle` that ends the page, or end of it that begins the page; else the
    longest beginning anywhere. Found by halving: a beginning of n letters is there if n + 1 are."""
    low, high = 0, len(needle)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if needle[:middle] in haystack else (low, middle - 1)
    head = low
    low, high = 0, len(needle)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if needle[-middle:] in haystack else (low, middle - 1)
    spans: list[tuple[int, int]] = []
    if head >= MIN_PIECE:
        spans += _occurrences(needle[:head], haystack)
    if low >= MIN_PIECE:
        spans += _occurrences(needle[-low:], haystack)
    return spans


def lines(boxes: Sequence[Box]) -> list[Box]:
    """Boxes of characters, in reading order, joined to one box a line."""
    joined: list[Box] = []
    for box in boxes:
        if joined and _same_line(joined[-1], box):
            last = joined[-1]
            joined[-1] = Box(
                min(last.left, box.left),
                min(last.top, box.top),
                max(last.right, box.right),
                max(last.bottom, box.bottom),
            )
        else:
            joined.append(box)
    return joined


def _same_line(line: Box, box: Box) -> bool:
    """Whether they overlap by half of the lower one, and no column lies between."""
    overlap = min(line.bottom, box.bottom) - max(line.top, box.top)
    low = min(line.bottom - line.top, box.bottom - box.top)
    gap = max(box.left - line.right, line.left - box.right)
    return overlap > 0.5 * low and gap < 0.08
