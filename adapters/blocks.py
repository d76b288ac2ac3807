"""Markdown as blocks of bounded length, cut where nothing breaks: never in a link, a fence or a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from markdown_it.token import Token

from adapters.markdown import Dialect, Piece, join_pieces, longest_run, parse, write_inline

_BAR = re.compile(r"(?<!\\)\|")
_BARRED = r"\\|"


@dataclass(frozen=True)
class Table:
    """Rows of cells in inline Markdown, the head first; `align` is left, center or right by column."""

    rows: tuple[tuple[str, ...], ...]
    align: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A paragraph, list, fence …, or a part of one that is too long."""

    text: str
    table: Table | None = None
    #: False for one of the parts of what is too long.
    whole: bool = True


def to_blocks(markdown: str, dialect: Dialect, *, limit: int) -> list[Block]:
    """Blocks of at most `limit` characters each, in order.

    What is longer is cut between items, rows, lines or words. Parts of a fence are fences, parts of a
    table have its head. A `table` is given only with a block that holds whole rows of it.
    """
    return [block for node in _nodes(parse(markdown, dialect)) for block in _block(node, dialect, limit)]


def _block(node: list[Token], dialect: Dialect, limit: int) -> list[Block]:
    parts = [part for part in _split(node, dialect, limit) if part.strip()]
    if node[0].type != "table_open":
        return [Block(part, whole=len(parts) == 1) for part in parts]
    table = _table(node, dialect)
    if len(parts) == 1:
        return [Block(parts[0], table)]
    rows = iter(table.rows[1:])
    held = [
        Table((table.rows[0], *islice(rows, max(0, part.count("\n") - 1))), table.align) for part in parts
    ]
    # Where a row had to be cut, parts begin and end within rows.
    cut = any(_rows(small, limit) != [part] for small, part in zip(held, parts, strict=True))
    return [
        Block(part, None if cut else small, whole=False) for small, part in zip(held, parts, strict=True)
    ]


def _nodes(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The blocks that stand side by side, each with its own tokens."""
    node: list[Token] = []
    depth = 0
    for token in tokens:
        node.append(token)
        depth += token.nesting
        if depth == 0:
            yield node
            node = []


def _split(node: list[Token], dialect: Dialect, limit: int) -> list[str]:
    first = node[0]
    match first.type:
        case "fence" | "code_block":
            return _fence(first, dialect, limit)
        case "hr":
            return ["---"]
        case "table_open":
            return _rows(_table(node, dialect), limit)
        case "blockquote_open":
            inner = [
                part for one in _nodes(node[1:-1]) for part in _split(one, dialect, max(limit // 2, 1))
            ]
            return _packed([_prefixed(part, "> ", "> ") for part in inner], limit, between="\n>\n")
        case "bullet_list_open" | "ordered_list_open":
            return _list(node, dialect, limit)
        case _:
            pieces = [piece for token in node for piece in write_inline(token.children or (), dialect)]
            hashes = f"{'#' * int(first.tag[1:])} " if first.type == "heading_open" else ""
            return [hashes + part for part in _words(pieces, dialect, limit - len(hashes))]


def _list(node: list[Token], dialect: Dialect, limit: int) -> list[str]:
    ordered = node[0].type == "ordered_list_open"
    number = int(node[0].attrs.get("start", 1))
    loose = any(t.type == "paragraph_open" and t.level == node[0].level + 2 and not t.hidden for t in node)
    between = "\n\n" if loose else "\n"
    items: list[str] = []
    for offset, item in enumerate(_nodes(node[1:-1])):
        sign = f"{number + offset}. " if ordered else "- "
        room = max(limit // 2, 1)
        inner = [part for one in _nodes(item[1:-1]) for part in _split(one, dialect, room)]
        text = _prefixed(between.join(inner), sign, " " * len(sign)) if inner else sign
        # An item longer than a message goes on in paragraphs of its own.
        items += [text] if len(text) <= limit else [f"{sign}{inner[0]}", *inner[1:]]
    return _packed(items, limit, between=between)


def _prefixed(text: str, first: str, others: str) -> str:
    lines = text.split("\n")
    return "\n".join([first + lines[0], *((others + line).rstrip() for line in lines[1:])])


def _packed(parts: Sequence[str], limit: int, *, between: str) -> list[str]:
    """As few texts as possible; a part that is too long by itself is cut within, as the last resort."""
    packed: list[str] = []
    for part in (short for long in parts for short in _cut(long, limit)):
        if packed and len(packed[-1]) + len(between) + len(part) <= limit:
            packed[-1] += between + part
        else:
            packed.append(part)
    return packed


def _cut(text: str, limit: int) -> list[str]:
    """At spaces where there are any in the second half of a part."""
    parts: list[str] = []
    while len(text) > limit:
        space = text.rfind(" ", limit // 2, limit)
        end = space + 1 if space > 0 else limit
        parts.append(text[:end])
        text = text[end:]
    return [*parts, text] if text or not parts else parts


def _words(pieces: Sequence[Piece], dialect: Dialect, limit: int) -> list[str]:
    """A paragraph, cut between words where it is too long."""
    whole = join_pieces(pieces, dialect) if pieces else ""
    if len(whole) <= limit:
        return [whole]
    words = [
        Piece(word, piece.whole)
        for piece in pieces
        for word in ([piece.text] if piece.whole else re.findall(r"\s*\S+|\s+", piece.text))
    ]
    parts: list[list[Piece]] = [[]]
    length = 0
    for word in words:
        longer = length + _most(word)
        if parts[-1] and longer > limit:
            parts.append([])
            longer = _most(word)
        parts[-1].append(word)
        length = longer
    return [piece for part in parts for piece in _cut(join_pieces(part, dialect).strip(), limit)]


def _most(word: Piece) -> int:
    """Its length with all that may be put into it and before it."""
    return len(word.text) + 1 + sum(map(word.text.count, "<@]"))


def _fence(token: Token, dialect: Dialect, limit: int) -> list[str]:
    marks = "`" * max(3, longest_run(token.content) + 1)
    language = re.sub(r"[^\w+#.-]", "", token.info.split()[0])[:30] if token.info.split() else ""
    room = max(limit - 2 * len(marks) - len(language) - 2, 1)
    bodies = _packed(dialect.quiet(token.content).rstrip("\n").split("\n"), room, between="\n")
    return [f"{marks}{language}\n{body}\n{marks}" for body in bodies]


def _table(node: list[Token], dialect: Dialect) -> Table:
    rows: list[list[str]] = []
    align: list[str] = []
    for token in node:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "th_open":
            align.append(str(token.attrs.get("style", "text-align:left")).removeprefix("text-align:"))
        elif token.type == "inline":
            rows[-1].append(
                join_pieces(write_inline(token.children or (), dialect), dialect).replace("\n", " ")
            )
    return Table(tuple(map(tuple, rows)), tuple(align))


def _rows(table: Table, limit: int) -> list[str]:
    """The table in Markdown, as several with the same head where it is too long."""
    dashes = {"left": "---", "center": ":-:", "right": "--:"}
    lines = [f"| {' | '.join(_BAR.sub(_BARRED, cell) for cell in row)} |" for row in table.rows]
    head = f"{lines[0]}\n| {' | '.join(dashes[side] for side in table.align)} |"
    if len(lines) == 1:
        return _cut(head, limit)
    if len(head) > limit // 2:
        return _packed([head, *lines[1:]], limit, between="\n")
    return [f"{head}\n{part}" for part in _packed(lines[1:], limit - len(head) - 1, between="\n")]
