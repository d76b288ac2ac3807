"""Excerpts as Markdown, in the words of the passages, each statement with its label."""

from __future__ import annotations

from retrieval.answer.extractive.passages import Line, columns
from retrieval.answer.extractive.select import MOST_CODE_LINES, Excerpt

#: Wider tables are shown as lines of "column: value".
_MOST_COLUMNS = 6


def render(excerpt: Excerpt) -> str:
    """One block of Markdown. Sentences stand as they are, with line breaks inside made spaces."""
    mark = f"[{excerpt.passage.source.label}]"
    lead = ""
    if excerpt.lead is not None:
        lead = f"{_plain(excerpt.passage.lines[excerpt.lead], excerpt)} {mark}\n\n"
    if excerpt.form == "list":
        return lead + _list(excerpt, mark)
    if excerpt.form == "table":
        return lead + _table(excerpt, mark)
    if excerpt.form == "code":
        return lead + "\n\n".join(_code(line, excerpt, mark) for line in excerpt.lines)
    return " ".join(f"{_plain(line, excerpt)} {mark}" for line in excerpt.lines)


def _plain(line: Line, excerpt: Excerpt) -> str:
    return " ".join(line.unit.of(excerpt.passage.text).split())


def _list(excerpt: Excerpt, mark: str) -> str:
    lines = excerpt.lines
    outermost = min(line.unit.depth for line in lines)
    rows = [
        f"{' ' * (line.unit.depth - outermost)}{_marker(line)} {_plain(line, excerpt)} {mark}"
        for line in lines
    ]
    return "\n".join([*rows, "- …"] if excerpt.omitted else rows)


def _marker(line: Line) -> str:
    """A number stays ("2."), so that steps keep their order; every bullet becomes a dash."""
    marker = line.unit.marker
    return marker if marker[:1].isdigit() else "-"


def _table(excerpt: Excerpt, mark: str) -> str:
    text = excerpt.passage.text
    rows = [columns(line.unit, text) for line in excerpt.lines]
    names = [name for name, _ in rows[0]]
    if len(rows) == 1 or len(names) > _MOST_COLUMNS or not any(names):
        lines = [
            ", ".join(f"{name}: {value}" if name else value for name, value in row if value) for row in rows
        ]
        return "\n".join(f"- {line} {mark}" for line in lines) if len(lines) > 1 else f"{lines[0]} {mark}"
    body = [[value for _, value in row] for row in rows]
    for cells in body:
        cells[-1] = f"{cells[-1]} {mark}".strip()
    ruled = [names, ["---"] * len(names), *body]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in ruled
    )


def _code(line: Line, excerpt: Excerpt, mark: str) -> str:
    lines = line.unit.of(excerpt.passage.text).split("\n")
    shown = "\n".join(lines[:MOST_CODE_LINES] + (["…"] if len(lines) > MOST_CODE_LINES else []))
    fence = "```"
    while fence in shown:
        fence += "`"
    return f"{fence}\n{shown}\n{fence}\n{mark}"
