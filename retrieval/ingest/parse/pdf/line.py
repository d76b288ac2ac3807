"""A printed line and a page of them, small enough to keep for all pages of a long document."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple


class Word(NamedTuple):
    """A run of characters without a space. In points from the page's left edge."""

    text: str
    x0: float
    x1: float
    link: str | None = None


@dataclass(slots=True, eq=False)
class Line:
    """One printed line. In points from the page's upper left corner."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    bold: bool
    #: Every letter is as wide as every other, as in code.
    mono: bool
    #: It does not run level.
    rotated: bool
    #: The last word goes on in the next line; a hyphen stood between the two parts.
    broken: bool
    #: The widest space between two words that follow each other.
    gap: float
    _edges: array[float]
    _links: dict[int, str] | None

    @classmethod
    def of(
        cls,
        words: Sequence[Word],
        *,
        top: float,
        bottom: float,
        size: float,
        bold: bool,
        mono: bool,
        rotated: bool,
        broken: bool,
    ) -> Line:
        """A line of at least one word, in reading order."""
        return cls(
            text=" ".join([word.text for word in words]),
            x0=min([word.x0 for word in words]),
            top=top,
            x1=max([word.x1 for word in words]),
            bottom=bottom,
            size=size,
            bold=bold,
            mono=mono,
            rotated=rotated,
            broken=broken,
            gap=max([max(b.x0 - a.x1, a.x0 - b.x1) for a, b in pairwise(words)], default=0.0),
            _edges=array("f", [edge for word in words for edge in (word.x0, word.x1)]),
            _links={at: word.link for at, word in enumerate(words) if word.link} or None,
        )

    @property
    def words(self) -> list[Word]:
        """Made anew each time: words take ten times the memory of their line."""
        edges, links = self._edges, self._links or {}
        return [
            Word(text, edges[2 * at], edges[2 * at + 1], links.get(at))
            for at, text in enumerate(self.text.split(" "))
        ]

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
