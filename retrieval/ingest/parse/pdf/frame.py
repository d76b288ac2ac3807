"""Places on a page as people see it: turned the right way round, measured from the upper left corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pypdfium2 as pdfium


class Box(NamedTuple):
    """In points from the page's upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Frame:
    """The visible part of a page in its own coordinates, and by how many degrees it is shown turned."""

    left: float
    bottom: float
    right: float
    top: float
    turned: int = 0

    @classmethod
    def of(cls, page: pdfium.PdfPage) -> Frame:
        return cls(*page.get_bbox(), turned=page.get_rotation())

    @property
    def width(self) -> float:
        return self.top - self.bottom if self.turned in (90, 270) else self.right - self.left

    @property
    def height(self) -> float:
        return self.right - self.left if self.turned in (90, 270) else self.top - self.bottom

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """From the page's own coordinates, whose origin is the lower left corner."""
        if self.turned == 90:
            return Box(bottom - self.bottom, left - self.left, top - self.bottom, right - self.left)
        if self.turned == 180:
            return Box(self.right - right, bottom - self.bottom, self.right - left, top - self.bottom)
        if self.turned == 270:
            return Box(self.top - top, self.right - right, self.top - bottom, self.right - left)
        return Box(left - self.left, self.top - top, right - self.left, self.top - bottom)

    def is_level(self, a: float, b: float) -> bool:
        """Whether text that runs in the direction (a, b) is shown level."""
        return abs(a) < abs(b) if self.turned in (90, 270) else abs(a) >= abs(b)
