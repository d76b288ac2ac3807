"""Rows of a table as atoms: whole under their header, or as records where they are too wide for a chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.ingest.atoms import Atom, Cut, Frame
from retrieval.ingest.blocks import Row, Table
from retrieval.ingest.split import split
from retrieval.ingest.tokens import count

#: Column names in records are cut to this (characters), so that a sheet with long names and short values
#: grows by a bounded factor. The header itself is handed on whole once.
MAX_NAME = 40
#: A longer row is text, not cells (characters).
MAX_ROW = 65_536

_PIPE = re.compile(r"(?<!\\)\|")
_BREAK = re.compile(r"<br ?/?>")


def row_atoms(row: Row, budget: int) -> Iterator[Atom]:
    """One atom for a row that fits in a chunk with its header, else its cells as "column: value" lines."""
    table = row.table
    tokens = count(row.line, _room(table, budget))
    if tokens is not None:
        table.shown = True
        yield Atom(row.line, tokens, row.cut, row.joint, table.frame)
        return
    cut, joint = row.cut, "\n\n"
    if not table.shown:
        table.shown = True
        yield from _record(table.header, [], budget, cut, joint)
        cut = Cut.SENTENCE
    yield from _record(row.line, _columns(table), budget, cut, joint)


def _room(table: Table, budget: int) -> int:
    """Tokens for rows in a chunk; 0 where the header would take over half of it."""
    if not table.header:
        return budget
    tokens = table.frame.tokens if table.frame else budget
    return budget - tokens if 2 * tokens <= budget else 0


def cells(line: str) -> list[str]:
    """The cells of a row of a pipe table, trimmed, with escaped pipes as pipes."""
    line = _BREAK.sub(" ", line.strip())
    parts = _PIPE.split(line) if "\\" in line else line.split("|")
    if not parts[0].strip():
        del parts[0]
    if parts and not parts[-1].strip():
        del parts[-1]
    return [part.replace("\\|", "|").strip() for part in parts]


def _columns(table: Table) -> list[str]:
    if table.columns is None:
        names = cells(table.header) if len(table.header) <= MAX_ROW else []
        table.columns = [n if len(n) <= MAX_NAME else n[: MAX_NAME - 1] + "…" for n in names]
    return table.columns


def _record(line: str, columns: list[str], budget: int, cut: Cut, joint: str) -> Iterator[Atom]:
    """A row as lines of "column: value"; each further chunk repeats the first line, the row's key."""
    values = cells(line) if len(line) <= MAX_ROW else [line]
    names = columns + [""] * (len(values) - len(columns))
    lines = [
        f"{name}: {value}" if name else value for name, value in zip(names, values, strict=False) if value
    ]
    if not lines:
        return
    whole = "\n".join(lines)
    tokens = count(whole, budget)
    if tokens is not None:
        yield Atom(whole, tokens, cut, joint)
        return
    key = Frame.of(lines[0]) if columns and count(lines[0], budget // 8) is not None else None
    for text in lines[1:] if key else lines:
        for piece in split(text, budget - (key.tokens if key else 0), cut):
            yield Atom(piece.text, piece.tokens, piece.cut, joint, key)
            joint = ""
        cut, joint = Cut.SENTENCE, "\n"
