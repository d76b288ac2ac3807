"""The block structure of Markdown, read line by line: headings, text, list items, table rows, code.

Not a full Markdown parser: it only finds where a chunk may begin, keeps the text as it stands, reads any
input in linear time and holds no more than a paragraph at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from retrieval.ingest.atoms import Cut, Frame

#: A longer "heading" is a paragraph that someone marked as one (characters).
MAX_HEADING = 300
#: A paragraph or item is handed on in parts of this size (characters); they are cut further anyway.
MAX_TEXT = 8192
#: Lines of code between two blank lines are handed on in runs of this size (characters).
MAX_RUN = 512

_FENCE = re.compile(r"[ \t]{0,32}(`{3,12}|~{3,12})[^`\n]{0,40}")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(?=\S)")
_ITEM = re.compile(r"[ \t]*(?:[-*+•◦▪‣●○■]|\d{1,9}[.)]|[A-Za-z]\))[ \t]+(?=\S)")
#: What a line can begin with, after its indentation, to be more than a line of text.
_SPECIAL = frozenset("#`~|-*+_•◦▪‣●○■0123456789")
_INTRODUCES = (":", "：", ":**", "：**")


class Heading(NamedTuple):
    level: int
    text: str


class Text(NamedTuple):
    """A paragraph or list item, or a part of a very long one."""

    text: str
    cut: Cut
    joint: str


class Table:
    """The header that the rows of a table share; empty where it has none."""

    def __init__(self, header: str = "", delimiter: str = "") -> None:
        self.header = header
        #: None where there is no header or it is far too long to be repeated.
        self.frame = Frame.of(f"{header}\n{delimiter}") if 0 < len(header + delimiter) <= MAX_TEXT else None
        #: Names of the columns, once they are needed.
        self.columns: list[str] | None = None
        #: Whether the header has been handed on, so that none of its words is lost.
        self.shown = not header


class Row(NamedTuple):
    line: str
    cut: Cut
    joint: str
    table: Table


class Code(NamedTuple):
    """A run of lines of a fenced block."""

    text: str
    cut: Cut
    joint: str
    fence: Frame


#: None: nothing new, only lines passed over.
Block = Heading | Text | Row | Code | None


def heading_text(line: str) -> str:
    """The text of a heading line without its closing `#`s."""
    bare = line.rstrip().rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else line.rstrip()


class Scanner:
    """Reads blocks from lines (without line ends)."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._next = next(lines, None)
        self._gap = True  # whether a blank line, or nothing, stands before the next line
        self._list_indent: int | None = None  # of the list that the next line may belong to
        self._introduced = False  # whether the block before ends in a colon

    def __iter__(self) -> Iterator[Block]:
        while (line := self._next) is not None:
            if line.strip():
                yield from self._block()
            else:
                self._take()
                self._gap = True

    def _take(self) -> str:
        line = self._next
        assert line is not None
        self._next = next(self._lines, None)
        return line

    def _block(self) -> Iterator[Block]:
        line = self._take()
        stripped = line.strip()
        if stripped[0] in _SPECIAL:
            if mark := _fence(line):
                yield from self._code(line, mark)
                return
            if heading := _heading(line):
                self._leave_list()
                self._gap = True
                yield heading
                return
            if _is_rule(stripped):
                self._leave_list()
                self._gap = True
                yield None
                return
        if stripped[0] == "|" or self._delimiter_follows(line):
            yield from self._table(line)
            return
        yield from self._text(line)

    # -- text and lists --------------------------------------------------------------------

    def _text(self, line: str) -> Iterator[Block]:
        indent = len(line) - len(line.lstrip())
        item = _ITEM.match(line) is not None
        if item:
            nested = self._list_indent is not None and indent > self._list_indent + 1
            cut = Cut.SENTENCE if nested else Cut.ITEM
            if self._list_indent is None:
                cut = self._outer_cut()
                self._list_indent = indent
        elif self._list_indent is not None and indent > self._list_indent + 1:
            cut = Cut.ITEM  # a further paragraph of an item
        else:
            self._leave_list()
            cut = self._outer_cut()
        lines, size, joint = [line], len(line), self._joint()
        while (following := self._next) is not None and following.strip():
            if self._setext(lines, item):
                yield Heading(1 if self._take().strip()[0] == "=" else 2, line.strip())
                self._gap = True
                return
            if self._interrupts(following):
                break
            if size + len(following) > MAX_TEXT:
                yield Text("\n".join(lines), cut, joint)
                lines, size, cut, joint = [], 0, Cut.CLAUSE, "\n"
            lines.append(self._take())
            size += len(following) + 1
        self._introduced = lines[-1].rstrip().endswith(_INTRODUCES)
        yield Text("\n".join(lines), cut, joint)

    def _setext(self, lines: list[str], item: bool) -> bool:
        """Whether the next line underlines the only line so far as a heading."""
        if len(lines) > 1 or item:
            return False
        under = (self._next or "").strip()
        return (
            len(under) >= 3
            and under[0] in "=-"
            and not under.strip(under[0])
            and len(lines[0].strip()) <= MAX_HEADING
        )

    def _interrupts(self, line: str) -> bool:
        """Whether a line ends the paragraph above it without a blank line between them."""
        stripped = line.lstrip()
        if stripped[0] not in _SPECIAL:
            return False
        return (
            stripped[0] == "|"
            or _ITEM.match(line) is not None
            or _fence(line) is not None
            or _heading(line) is not None
            or _is_rule(stripped.rstrip())
        )

    def _leave_list(self) -> None:
        self._list_indent = None

    def _outer_cut(self) -> Cut:
        """How well the text is cut before a block: "The following keys:" stays with what it introduces."""
        return Cut.SENTENCE if self._introduced else Cut.BLOCK

    def _joint(self) -> str:
        joint = "\n\n" if self._gap else "\n"
        self._gap = False
        return joint

    # -- tables ----------------------------------------------------------------------------

    def _delimiter_follows(self, line: str) -> bool:
        following = self._next
        return following is not None and "|" in line and _is_delimiter(following)

    def _table(self, line: str) -> Iterator[Block]:
        piped = line.lstrip()[0] == "|"
        self._leave_list()
        cut, joint = self._outer_cut(), self._joint()
        self._introduced = False
        table = Table()
        if self._delimiter_follows(line):
            delimiter = self._take()
            if self._is_row(piped):
                table = Table(line.strip(), delimiter.strip())
                line = self._take()
        yield Row(line.strip(), cut, joint, table)
        while self._is_row(piped):
            line = self._take()
            if not _is_delimiter(line):
                yield Row(line.strip(), Cut.ITEM, "\n", table)

    def _is_row(self, piped: bool) -> bool:
        line = (self._next or "").strip()
        return bool(line) and (line[0] == "|" if piped else "|" in line)

    # -- code ------------------------------------------------------------------------------

    def _code(self, line: str, mark: str) -> Iterator[Block]:
        indent = line[: len(line) - len(line.lstrip())]
        fence = Frame.of(line.rstrip(), indent + mark)
        if self._list_indent is not None and len(indent) > self._list_indent + 1:
            cut = Cut.ITEM
        else:
            self._leave_list()
            cut = self._outer_cut()
        joint = self._joint()
        self._introduced = False
        run: list[str] = []
        size = blank = 0
        while self._next is not None:
            line = self._take()
            if _closes(line, mark):
                break
            if not line.strip():
                blank += 1
                continue
            if run and (blank or size > MAX_RUN):
                yield Code("\n".join(run), cut, joint, fence)
                cut, joint = (Cut.ITEM, "\n" * min(blank + 1, 3)) if blank else (Cut.SENTENCE, "\n")
                run, size = [], 0
            blank = 0
            run.append(line.rstrip())
            size += len(line) + 1
        if run:
            yield Code("\n".join(run), cut, joint, fence)


def _fence(line: str) -> str | None:
    """The marks of an opening fence."""
    match = _FENCE.fullmatch(line)
    return match[1] if match else None


def _closes(line: str, mark: str) -> bool:
    bare = line.strip()
    return bare.startswith(mark) and not bare.strip(mark[0])


def _heading(line: str) -> Heading | None:
    match = _HEADING.match(line)
    if not match:
        return None
    text = heading_text(line[match.end() :])
    return Heading(len(match[1]), text) if 0 < len(text) <= MAX_HEADING else None


def _is_rule(stripped: str) -> bool:
    bare = stripped.replace(" ", "")
    return len(bare) >= 3 and bare[0] in "-*_" and not bare.strip(bare[0])


def _is_delimiter(line: str) -> bool:
    """Whether a line is the second line of a table: `| --- | :-: |`."""
    return "-" in line and "|" in line and not line.strip(" \t|:-")
