"""Sheets and tables as Markdown: what is blank goes, titles stand before, the header is found."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.sections import SectionBuilder

#: Rows above a header that are read as titles.
_MAX_TITLES = 6
#: Share of the columns that a header names at least.
_HEADER_FILL = 0.6


def write_grid(rows: Sequence[Sequence[str]], builder: SectionBuilder) -> None:
    """Writes one sheet or table. Blank rows part tables; what stands above a header is its title."""
    for block in _blocks(rows):
        head = _header_at(block)
        for row in block[:head]:
            builder.text(markdown.plain(" ".join(text for text in row if text)))
        body = _without_blank_columns(block[head:])
        if body and len(body[0]) == 1:
            builder.text("\n".join(markdown.plain(row[0]) for row in body))
        elif body:
            builder.text(markdown.table(body))


def _header_at(block: list[list[str]]) -> int:
    """The row that names the columns: the first of the first rows that fills most of them."""
    width = len(block[0])
    if width < 2:
        return 0
    for at, row in enumerate(block[: _MAX_TITLES + 1]):
        if sum(map(bool, row)) >= max(2, _HEADER_FILL * width):
            return at
    return next((at for at, row in enumerate(block) if sum(map(bool, row)) > 1), len(block))


def _blocks(rows: Sequence[Sequence[str]]) -> list[list[list[str]]]:
    """Rows between blank rows. A block without a number is the head of the block after it."""
    blocks: list[list[list[str]]] = [[]]
    for row in rows:
        cleaned = [" ".join(text.split()) for text in row]
        if any(cleaned):
            blocks[-1].append(cleaned)
        elif blocks[-1] and not _is_head(blocks[-1]):
            blocks.append([])
    return [_without_blank_columns(block) for block in blocks if block]


def _is_head(block: list[list[str]]) -> bool:
    return len(block) <= _MAX_TITLES and not any(
        any(char.isdigit() for char in text) for text in block[-1][1:] if len(text) < 20
    )


def _without_blank_columns(rows: list[list[str]]) -> list[list[str]]:
    width = max((len(row) for row in rows), default=0)
    filled = [any(at < len(row) and row[at] for row in rows) for at in range(width)]
    return [[row[at] if at < len(row) else "" for at in range(width) if filled[at]] for row in rows]
