"""Markdown as one line of plain text, for excerpts."""

from __future__ import annotations

import re

from markdown_it.token import Token

from adapters.web.markdown import make_markdown

_MARKDOWN = make_markdown()
#: The line of dashes under a table's head, or a rule.
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_CELLS = re.compile(r"(?<!\\)\|")


def to_text(markdown: str, *, limit: int) -> str:
    """At most `limit` characters, without Markdown's signs; cells of a table have a dot between them.

    Rows of a table are understood without their head and their outer bars: a quote may begin anywhere.
    """
    lines = [_row(line) for line in markdown.splitlines() if not _RULE.fullmatch(line)]
    words = " ".join(" ".join(_texts(_MARKDOWN.parse("\n".join(lines), {"marks": {}}))).split()).rstrip(";")
    return words if len(words) <= limit else f"{words[: limit - 1].rstrip()}…"


def _row(line: str) -> str:
    if " | " not in line and not line.lstrip().startswith("|"):
        return line
    cells = (cell.strip() for cell in _CELLS.split(line.strip().strip("|")))
    return " · ".join(cell for cell in cells if cell) + ";"


def _texts(tokens: list[Token]) -> list[str]:
    found: list[str] = []
    for token in tokens:
        if token.type == "inline":
            found.append("".join(_inline(child) for child in token.children or ()))
        elif token.type in ("fence", "code_block"):
            found.append(token.content)
    return found


def _inline(token: Token) -> str:
    return " " if token.type in ("softbreak", "hardbreak") else token.content
