"""A small SVG writer: text, lines and shapes on a page that follows the reader's light or dark theme."""

from __future__ import annotations

import math
from html import escape
from typing import Literal

Anchor = Literal["start", "middle", "end"]

#: Colours by role, light then dark; series are told apart in both themes and by people who see colours
#: differently (after Okabe and Ito, "Color Universal Design", 2008).
_COLOURS = {
    "paper": ("#ffffff", "#0f1419"),
    "ink": ("#1b2430", "#e6e9ee"),
    "soft": ("#5b6673", "#9aa5b1"),
    "grid": ("#e3e7ec", "#28313b"),
    "band": ("#f5f7f9", "#161d25"),
    "better": ("#0b67a8", "#5db4f0"),
    "worse": ("#b8500a", "#f0975a"),
    "even": ("#7a8591", "#8b97a4"),
    "s0": ("#9aa5b1", "#7a8794"),
    "s1": ("#d98a00", "#f0b445"),
    "s2": ("#0b67a8", "#5db4f0"),
    "s3": ("#0b8a6a", "#43c79f"),
    "s4": ("#a8478c", "#de8cc6"),
    "s5": ("#b8500a", "#f0975a"),
}
SERIES = 6
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif"


class Svg:
    """Collects shapes; `str()` is the whole file. Coordinates are pixels from the top left."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height = width, height
        self._title = title
        self._parts: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 13,
        colour: str = "ink",
        anchor: Anchor = "start",
        bold: bool = False,
    ) -> None:
        """`y` is the base line. Figures are of equal width, so that columns line up."""
        weight = ' font-weight="600"' if bold else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}"{weight} '
            f'class="f-{colour}">{escape(text)}</text>'
        )

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        colour: str = "grid",
        width: float = 1,
        dash: str = "",
    ) -> None:
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke-width="{width:g}"{dashes} stroke-linecap="round" class="s-{colour}"/>'
        )

    def rect(
        self, x: float, y: float, width: float, height: float, *, colour: str, round: float = 0
    ) -> None:
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" '
            f'rx="{round:g}" class="f-{colour}"/>'
        )

    def dot(self, x: float, y: float, radius: float, *, colour: str, hollow: bool = False) -> None:
        look = f"f-paper s-{colour}" if hollow else f"f-{colour} s-{colour}"
        self._parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" stroke-width="2" class="{look}"/>'
        )

    def path(
        self, points: list[tuple[float, float]], *, colour: str, closed: bool = False, dash: str = ""
    ) -> None:
        """A filled shape if `closed`, else a line."""
        way = "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in points) + ("Z" if closed else "")
        look = f"f-{colour}" if closed else f"s-{colour}"
        rest = "" if closed else f' fill="none" stroke-width="1.5" stroke-dasharray="{dash or "none"}"'
        self._parts.append(f'<path d="{way}" class="{look}"{rest}/>')

    def __str__(self) -> str:
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:g}" height="{self.height:g}" '
                f'viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
                f'aria-label="{escape(self._title)}" font-family="{FONT}" '
                'style="font-variant-numeric: tabular-nums">',
                f"<title>{escape(self._title)}</title>",
                f"<style>{_theme(0)} @media (prefers-color-scheme: dark) {{ {_theme(1)} }}</style>",
                f'<rect width="{self.width:g}" height="{self.height:g}" class="f-paper"/>',
                *self._parts,
                "</svg>\n",
            ]
        )


def _theme(which: int) -> str:
    return " ".join(
        f".f-{name} {{ fill: {pair[which]} }} .s-{name} {{ stroke: {pair[which]} }}"
        for name, pair in _COLOURS.items()
    )


def ticks(low: float, high: float, *, about: int = 6) -> list[float]:
    """Round numbers from `low` to `high`, 1, 2 or 5 times a power of ten apart."""
    span = (high - low) or 1.0
    rough = span / about
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough - 1e-12)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 10) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def shortened(text: str, most: int) -> str:
    """At most `most` characters, cut in the middle: both ends of a name tell it apart."""
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def signed(value: float) -> str:
    """Three places, with a sign, and a real minus."""
    text = f"{value:+.3f}"
    return ("0.000" if text[1:] == "0.000" else text).replace("-", "−")
