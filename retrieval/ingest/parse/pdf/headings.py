"""Headings of a PDF: its own outline first, then what size, weight and numbering tell."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from retrieval.ingest.parse.pdf.line import Line, Page
from retrieval.ingest.parse.pdf.outline import OutlineEntry, match_outline
from retrieval.ingest.parse.pdf.tables import find_table, is_wide

#: "1.2.3 Title", "IV. Title", "§ 12 Title", "Chapter 3", "Appendix A"; the first group counts levels.
_NUMBERED = re.compile(
    r"(?:(\d{1,3}(?:\.\d{1,3}){0,5})[.)]?|[IVX]{1,5}\.|§\s?\d[\d.]*|[A-Z](?:\.\d{1,3})+|"
    r"(?:chapter|part|section|appendix|annex|kapitel|teil|anhang|chapitre|capítulo)\s+[\dA-Z]{1,4}\b[.:]?)"
    r"(?:\s+\S|$)",
    re.IGNORECASE,
)
#: Dots that lead to a page number: a line of a table of contents.
LEADER = re.compile(r"(?:\.\s?|…\s?|·\s?|_){4,}")
_BULLET = re.compile(r"[•▪◦●○■□➢✓*–—·-]\s")
_MAX_CHARS = 160
_MAX_BOLD_CHARS = 90
_MAX_LINES = 3
#: In units of the type size: what parts columns; and how wide a line is that its heading may go beyond.
_COLUMN_GAP, _FULL_LINE = 1.2, 18
#: More of the text in bold than this, and bold tells nothing.
_BOLD_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Heading:
    """`level` orders headings: the greater belongs under the smaller. `lines` are those it takes up."""

    level: float
    text: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Style:
    """What a document's running text looks like."""

    size: float
    bold_tells: bool

    @classmethod
    def of(cls, pages: list[Page]) -> Style:
        chars: Counter[float] = Counter()
        bold = 0
        for page in pages:
            for line in page.lines:
                chars[line.size] += len(line.text)
                bold += len(line.text) * line.bold
        total = chars.total()
        return cls(chars.most_common(1)[0][0] if chars else 0.0, bold_tells=bold <= _BOLD_SHARE * total)


def find_headings(pages: list[Page], outline: list[OutlineEntry]) -> dict[int, Heading]:
    """Headings by the `id` of their first line. The lines must be in reading order."""
    style = Style.of(pages)
    outlined = match_outline(pages, outline)
    found: dict[int, Heading] = {}
    taken = {id(line) for lines, _ in outlined.values() for line in lines}
    candidates = [
        lines
        for page in pages
        for lines in _candidates(page.lines, style, taken, rich_outline=len(outlined) > 2)
    ]
    levels = _Levels([*candidates, *(lines for lines, _ in outlined.values())], outlined.values())
    for lines in candidates:
        found[id(lines[0])] = Heading(levels.of(lines), join_words(lines), lines)
    for first, (lines, entry) in outlined.items():
        found[first] = Heading(float(entry.level), join_words(lines), lines)
    return _in_number_order(pages, found)


def _in_number_order(pages: list[Page], headings: dict[int, Heading]) -> dict[int, Heading]:
    """Lifts "1.3.1" from under "1.2", where a missing "1.3" has left it."""
    open_headings: list[tuple[float, str]] = []
    for line in (line for page in pages for line in page.lines if id(line) in headings):
        heading = headings[id(line)]
        level, number = heading.level, _number(heading.lines)
        while open_headings and open_headings[-1][0] >= level:
            open_headings.pop()
        while "." in number and open_headings and _is_foreign(open_headings[-1][1], number):
            level = open_headings.pop()[0]
        open_headings.append((level, number))
        if level != heading.level:
            headings[id(line)] = Heading(level, heading.text, heading.lines)
    return headings


def _is_foreign(above: str, number: str) -> bool:
    return bool(above) and not number.startswith(above + ".")


def join_words(lines: Iterable[Line]) -> str:
    """The text of a heading over several lines; a word broken between two of them is made whole."""
    text, broken = "", False
    for line in lines:
        text += line.text if broken or not text else f" {line.text}"
        broken = line.broken
    return text


def _candidates(
    lines: list[Line], style: Style, taken: set[int], *, rich_outline: bool
) -> Iterable[tuple[Line, ...]]:
    index = 0
    while index < len(lines):
        end = index
        while (
            end < len(lines)
            and id(lines[end]) not in taken
            and _stands_out(lines[end], style)
            and (end == index or _goes_on(lines[end - 1], lines[end], style))
        ):
            end += 1
        run = lines[index:end]
        if not run:
            index += 1
            continue
        larger = _is_larger(run[0], style)
        alone = larger or (
            not rich_outline and _is_set_apart(lines, index, end) and find_table(lines, index) is None
        )
        if len(run) <= _MAX_LINES and alone and _reads_like_a_heading(join_words(run), larger=larger):
            yield tuple(run)
        index = end


def _stands_out(line: Line, style: Style) -> bool:
    if line.rotated or line.mono or _has_wide_gap(line):
        return False
    return _is_larger(line, style) or (line.bold and style.bold_tells and line.size >= style.size * 0.98)


def _is_larger(line: Line, style: Style) -> bool:
    return line.size >= style.size * 1.15 and line.size >= style.size + 1


def _goes_on(last: Line, line: Line, style: Style) -> bool:
    """Whether `line` is the next line of the heading that `last` belongs to."""
    if line.size != last.size or line.bold != last.bold or _NUMBERED.match(line.text):
        return False
    if not -last.height < line.top - last.bottom < 0.8 * line.height:
        return False
    if last.broken or line.text[:1].islower():
        return True
    if _is_larger(line, style):
        return len(last.text) > 12
    hangs = _NUMBERED.match(last.text) is not None and line.x0 > last.x0 + 0.8 * line.size
    return hangs or last.x1 - last.x0 > _FULL_LINE * last.size


def _has_wide_gap(line: Line) -> bool:
    """A gap as between the columns of a table; the one after a heading's number is none."""
    return is_wide(line, _COLUMN_GAP) and any(
        max(after.x0 - before.x1, before.x0 - after.x1) > _COLUMN_GAP * line.size
        and not _NUMBERED.fullmatch(before.text)
        for before, after in pairwise(line.words)
    )


def _is_set_apart(lines: list[Line], start: int, end: int) -> bool:
    """Bold text of the usual size is a heading only where it begins a block and other text follows."""
    first, last = lines[start], lines[end - 1]
    if end == len(lines):
        return False
    after = lines[end]
    if (after.bold and after.size == last.size) or after.top < last.bottom - 0.5 * after.height:
        return False
    if start == 0:
        return True
    before = lines[start - 1]
    if before.bottom > first.top + 0.5 * first.height and before.top <= first.bottom:
        return False  # beside other text
    gap = first.top - before.bottom
    right = max(line.x1 for line in lines[max(0, start - 6) : start])
    return not 0 <= gap + 0.3 * first.height < 0.65 * first.height or before.x1 < right - 3 * first.size


def _reads_like_a_heading(text: str, *, larger: bool) -> bool:
    letters = sum(char.isalpha() for char in text)
    if letters < 2 or LEADER.search(text) or len(text) > _MAX_CHARS:
        return False
    if larger:
        return not text.endswith((",", ";"))
    if text[0].islower() or _BULLET.match(text):
        return False
    if _NUMBERED.match(text):
        return not text.endswith((",", ";"))
    return (
        len(text) <= _MAX_BOLD_CHARS
        and not text.endswith((".", ",", ";"))
        and letters >= 0.5 * len(text.replace(" ", ""))
    )


_Look = tuple[float, bool]


class _Levels:
    """Levels by look: the larger the type, the higher; within one look, numbers count their parts."""

    def __init__(
        self, headings: list[tuple[Line, ...]], outlined: Iterable[tuple[tuple[Line, ...], OutlineEntry]]
    ) -> None:
        looks: defaultdict[int, Counter[_Look]] = defaultdict(Counter)
        for lines in headings:
            looks[_depth(lines)][_own_look(lines)] += 1
        #: Headings numbered alike look alike; one that does not has an odd font in it.
        self._usual = {depth: found.most_common(1)[0][0] for depth, found in looks.items() if depth}
        self._outlined: dict[_Look, float] = {}
        for lines, entry in outlined:
            look = _own_look(lines)
            self._outlined[look] = min(self._outlined.get(look, 99.0), float(entry.level))
        ranked = sorted({self._look(lines) for lines in headings}, key=lambda look: (-look[0], not look[1]))
        self._rank = {look: rank for rank, look in enumerate(ranked)}
        self._least_depth: dict[_Look, int] = {}
        for lines in headings:
            if depth := _depth(lines):
                look = self._look(lines)
                self._least_depth[look] = min(self._least_depth.get(look, 99), depth)

    def of(self, lines: tuple[Line, ...]) -> float:
        look = self._look(lines)
        if look in self._outlined:
            return self._outlined[look]
        level = self._rank[look] + (_depth(lines) or self._least_depth.get(look, 1)) / 10
        if not self._outlined:
            return level
        above = [level for known, level in self._outlined.items() if known[0] >= look[0]]
        return max(above) + level / 100 if above else level - 100

    def _look(self, lines: tuple[Line, ...]) -> _Look:
        return self._usual.get(_depth(lines)) or _own_look(lines)


def _own_look(lines: tuple[Line, ...]) -> _Look:
    return lines[0].size, lines[0].bold


def _number(lines: tuple[Line, ...]) -> str:
    """A heading's number, such as "1.3.1"; empty without one."""
    match = _NUMBERED.match(lines[0].text)
    return (match.group(1) or "") if match else ""


def _depth(lines: tuple[Line, ...]) -> int:
    number = _number(lines)
    return number.count(".") + 1 if number else 0
