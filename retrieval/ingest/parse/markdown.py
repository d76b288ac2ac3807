"""Markdown as parsers write it: pipe tables, fenced code, links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPACE = re.compile(r"\s+")
_OPENERS = re.compile(r"^( {0,3})(#{1,6}(?=\s|$)|```|~~~|\|)", re.MULTILINE)


def table(rows: Sequence[Sequence[str]], *, header: bool = True) -> str:
    """A pipe table. Without `header` the first line is empty cells; rows may be of any length."""
    width = max((len(row) for row in rows), default=0)
    return table_of(rows if header else [[""] * width, *rows], width) if width else ""


def table_of(rows: Iterable[Sequence[str]], width: int) -> str:
    """A pipe table of `width` columns, the first of `rows` its header, without holding all rows at once."""
    lines = [_row(row, width) for row in rows]
    lines.insert(1, "| " + " | ".join(["---"] * width) + " |")
    return "\n".join(lines)


def _row(cells: Sequence[str], width: int) -> str:
    padded = [cell_text(cell) for cell in cells] + [""] * (width - len(cells))
    return "| " + " | ".join(padded) + " |"


def cell_text(text: str) -> str:
    """`text` on one line, with its pipes escaped."""
    return _SPACE.sub(" ", text).strip().replace("|", "\\|")


def fenced(code: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code.strip(chr(10))}\n{fence}"


def link(text: str, address: str) -> str:
    """A link; where the text shows the address already, it stays as it is."""
    address = address.strip().replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    shown = address.split(":", 1)[-1].removeprefix("//").removeprefix("www.").rstrip("/")
    if not text.strip() or not shown or shown in text:
        return text
    return f"[{text.replace('[', '(').replace(']', ')')}]({address})"


def plain(text: str) -> str:
    """Text that is no Markdown: lines that would open a heading, a fence or a table lose that meaning."""
    return _OPENERS.sub(r"\1\\\2", text)


def paragraphs(blocks: Iterable[str]) -> str:
    """Blocks with an empty line between each two; empty blocks are left out."""
    return "\n\n".join(block for block in (block.strip("\n") for block in blocks) if block.strip())
