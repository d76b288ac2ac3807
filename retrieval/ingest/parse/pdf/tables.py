"""Tables in PDF text, found by the white channels that run down between columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from retrieval.ingest.parse.pdf.line import Line, Word

#: In units of the type size: a gap that parts two cells of a line, a channel between columns, and the
#: channel that a table of only two columns needs.
_CELL_GAP = 1.0
_CHANNEL = 0.55
_LONE_CHANNEL = 1.2
#: Share of the rows that may run across a channel: titles over several columns.
_CROSSING = 0.2
_MIN_ROWS = 3
_MAX_ROWS = 150
_MAX_COLUMNS = 30
#: A first column of nothing but these is a list, not a table.
_LIST_MARK = re.compile(r"[•▪◦●○■□➢✓*\-–—·]|\(?\[?\w{1,3}[.)\]]|\d{1,3}")
#: Left and right edges of columns, from left to right, in points.
_Spans = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` hold one text a column. `header` tells whether the first row names the columns."""

    rows: list[list[str]]
    header: bool
    #: How many lines it takes up.
    lines: int


def find_table(lines: Sequence[Line], start: int = 0) -> Table | None:
    """The table that begins with the line at `start`, if one does."""
    if is_wide(lines[start]):
        return _table(lines, start)
    # A header may stand closer together than the rows below it.
    if " " in lines[start].text and start + 1 < len(lines) and is_wide(lines[start + 1]):
        columns, end = _grow(lines, start + 1)
        if end and _fits_as_header(lines[start], lines[start + 1], columns):
            return _table(lines, start, columns, end)
    return None


def is_wide(line: Line, gap: float = _CELL_GAP) -> bool:
    """Whether two of its words stand further apart than `gap` times the type size."""
    return line.gap > gap * line.size


def cells(line: Line, gap: float = _CELL_GAP) -> list[list[Word]]:
    """The words of a line, parted where they stand further apart than `gap` times the type size."""
    words = line.words
    if not is_wide(line, gap):
        return [words]
    found = [[words[0]]]
    for before, word in pairwise(words):
        if word.x0 - before.x1 > gap * line.size:
            found.append([])
        found[-1].append(word)
    return found


def _table(lines: Sequence[Line], start: int, columns: _Spans | None = None, end: int = 0) -> Table | None:
    if columns is None:
        columns, end = _grow(lines, start)
    size = lines[start].size
    if end - start < _MIN_ROWS or not 2 <= len(columns) <= _MAX_COLUMNS:
        return None
    if len(columns) == 2 and columns[1][0] - columns[0][1] < _LONE_CHANNEL * size:
        return None
    rows: list[list[str]] = []
    for at in range(start, end):
        row = _fill(lines[at], columns)
        if rows and _continues(row, rows[-1], lines[at - 1], lines[at]):
            rows[-1] = [f"{above} {below}".strip() for above, below in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    return Table(rows, _has_header(rows, lines[start:end]), end - start) if _is_tabular(rows) else None


def _grow(lines: Sequence[Line], start: int) -> tuple[_Spans, int]:
    """The columns of the table that begins at `start`, and the line after its last; 0 without a table."""
    size = lines[start].size
    wide = [lines[start]]
    columns = _columns(wide, size)
    end = start + 1
    for at in range(start + 1, min(len(lines), start + _MAX_ROWS)):
        last, line = lines[at - 1], lines[at]
        apart = line.top - last.bottom
        if not -0.9 * last.height < apart < 2.5 * line.height or abs(line.size - size) > 1.5:
            break
        if not is_wide(line):
            if at - end >= 2:
                break
            continue
        grown = _columns([*wide, line], size)
        if len(grown) < (2 if len(wide) < _MIN_ROWS else max(2, 0.7 * len(columns))):
            break
        columns, end = grown, at + 1
        wide.append(line)
    return columns, end if len(wide) >= _MIN_ROWS and len(wide) >= 0.5 * (end - start) else 0


def _columns(lines: list[Line], size: float) -> _Spans:
    """What lies between the channels that all but a few of `lines` leave white."""
    edges: list[tuple[float, int]] = []
    for line in lines:
        for cell in cells(line, _CHANNEL):
            edges += [(cell[0].x0, 1), (cell[-1].x1, -1)]
    edges.sort()
    allowed, depth = int(_CROSSING * len(lines)), 0
    spans: _Spans = []
    for x, step in edges:
        was, depth = depth, depth + step
        if was <= allowed < depth:
            if spans and x - spans[-1][1] < _CHANNEL * size:
                spans[-1] = spans[-1][0], x
            else:
                spans.append((x, x))
        elif depth <= allowed < was:
            spans[-1] = spans[-1][0], x
    return spans


def _fill(line: Line, columns: _Spans) -> list[str]:
    """The texts of a line's columns; what runs across several stands in the first of them."""
    texts: list[list[str]] = [[] for _ in columns]
    parts = cells(line)
    for cell in parts:
        nearest = [_nearest(word, columns) for word in cell]
        fit = all(_lies_in(word, columns[at]) for word, at in zip(cell, nearest, strict=True))
        for word, at in zip(cell, nearest, strict=True):
            texts[at if fit and len(parts) > 1 else nearest[0]].append(word.text)
    return [" ".join(found) for found in texts]


def _nearest(word: Word, columns: _Spans) -> int:
    return min(range(len(columns)), key=lambda at: max(columns[at][0] - word.x1, word.x0 - columns[at][1]))


def _lies_in(word: Word, column: tuple[float, float]) -> bool:
    return column[0] - 1 <= word.x0 and word.x1 <= column[1] + 1


def _fits_as_header(line: Line, below: Line, columns: _Spans) -> bool:
    near = -0.5 * line.height < below.top - line.bottom < 2.0 * line.height
    words = line.words
    hit = [_nearest(word, columns) for word in words]
    inside = all(
        word.x0 < columns[at][1] and word.x1 > columns[at][0] for word, at in zip(words, hit, strict=True)
    )
    return near and inside and len(set(hit)) >= max(2, 0.6 * len(columns))


def _continues(row: list[str], above: list[str], last: Line, line: Line) -> bool:
    """Whether a line without a first cell goes on with the cells above it."""
    filled = [at for at, text in enumerate(row) if text]
    near = line.top - last.bottom < 0.6 * line.height
    return near and len(filled) == 1 and filled[0] > 0 and bool(above[filled[0]])


def _is_tabular(rows: list[list[str]]) -> bool:
    if len(rows) < _MIN_ROWS or sum(sum(map(bool, row)) >= 2 for row in rows) < 0.6 * len(rows):
        return False
    if len(rows[0]) > 2:
        return True
    if all(_LIST_MARK.fullmatch(row[0]) for row in rows if row[0]):
        return False
    # Two columns of prose side by side are no table.
    lengths = sorted(len(row[0]) for row in rows)
    return lengths[len(lengths) // 2] <= 32


def _has_header(rows: list[list[str]], lines: Sequence[Line]) -> bool:
    if lines[0].bold and not all(line.bold for line in lines[1:]):
        return True
    digits = [[any(char.isdigit() for char in text) for text in row] for row in rows]
    columns = range(len(rows[0]))
    numeric = [at for at in columns if sum(row[at] for row in digits[1:]) > len(rows) / 2]
    return bool(numeric) and all(rows[0][at] and not digits[0][at] for at in numeric)
