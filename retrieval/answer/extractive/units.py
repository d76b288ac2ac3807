"""What can be quoted from a passage: its sentences, list items, table rows and code blocks.

A line scanner for the Markdown that parsers write, lenient with what they don't (a table without
its delimiter row because a chunk begins in its midst, bullets of word processors).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from retrieval.answer.extractive.sentences import MAX_CHARS, Span, sentence_spans

UnitKind = Literal["sentence", "item", "row", "code", "heading"]

_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+")
_ITEM = re.compile(r"([ \t]*)([-*+•‣◦▪–]|\d{1,3}[.)]|[a-zA-Z]\)|[（(]\d{1,2}[)）]|[①-⑳])[ \t]+(?=\S)")
_DELIMITER_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*\Z")
_QUOTE_MARK = re.compile(r"[ \t]*(?:>[ \t]?)+")
_RULE = re.compile(r"[ \t]*(?:[-*_][ \t]*){3,}\Z")
#: A line at least this wide may be wrapped prose; a shorter one that is followed by a line that
#: does not go on in lower case stands for itself (an address, opening hours, a title).
_WRAPPED_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Unit:
    """One quotable part, `text[start:end]` of its passage."""

    kind: UnitKind
    start: int
    end: int
    #: Units of one paragraph, list or table share it.
    group: int
    #: How a list item is marked, as it stands ("-", "2."); empty for all else.
    marker: str = ""
    #: Header row of the table that a row belongs to.
    header: Span | None = None
    #: Columns of indentation of a list item.
    depth: int = 0

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@lru_cache(maxsize=256)
def units_of(text: str) -> tuple[Unit, ...]:
    """The units of a passage in order. Their spans don't overlap and are never blank."""
    return tuple(_Scanner(text).scan())


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = _line_spans(text)
        self.units: list[Unit] = []
        self.group = 0
        self.at = 0

    def scan(self) -> list[Unit]:
        while self.at < len(self.lines):
            start, end = self.lines[self.at]
            line = self.text[start:end]
            if not line.strip() or _RULE.match(line):
                self.at += 1
            elif fence := _FENCE.match(line):
                self._code(fence.group(1))
            elif heading := _HEADING.match(line):
                self._add("heading", start + heading.end(), end)
                self.at += 1
            elif _is_row(line):
                self._table()
            elif _ITEM.match(line):
                self._list()
            else:
                self._paragraph()
            self.group += 1
        return self.units

    def _add(
        self,
        kind: UnitKind,
        start: int,
        end: int,
        *,
        marker: str = "",
        header: Span | None = None,
        depth: int = 0,
    ) -> None:
        start, end = _strip(self.text, start, end)
        if start < end:
            self.units.append(Unit(kind, start, end, self.group, marker, header, depth))

    def _code(self, fence: str) -> None:
        self.at += 1
        first = last = self.at
        while self.at < len(self.lines):
            start, end = self.lines[self.at]
            self.at += 1
            if self.text[start:end].strip().startswith(fence):
                break
            last = self.at
        if last > first:
            start, end = self.lines[first][0], self.lines[last - 1][1]
            while start < end and self.text[start] == "\n":
                start += 1
            if self.text[start:end].strip():
                self.units.append(Unit("code", start, end, self.group))

    def _table(self) -> None:
        header: Span | None = None
        rows: list[Span] = []
        while self.at < len(self.lines):
            start, end = self.lines[self.at]
            line = self.text[start:end]
            if not _is_row(line):
                break
            if _DELIMITER_ROW.match(line):
                header = rows.pop() if len(rows) == 1 else header
            else:
                rows.append(_strip(self.text, start, end))
            self.at += 1
        for start, end in rows:
            self._add("row", start, end, header=header)

    def _list(self) -> None:
        while self.at < len(self.lines):
            start, end = self.lines[self.at]
            item = _ITEM.match(self.text, start, end)
            if item is None:
                # A blank line between two items leaves them one list.
                following = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else None
                blank = not self.text[start:end].strip()
                if blank and following and _ITEM.match(self.text, *following):
                    self.at += 1
                    continue
                return
            self.at += 1
            while self.at < len(self.lines) and not self._begins_block(*self.lines[self.at]):
                end = self.lines[self.at][1]
                self.at += 1
            self._item(item, end)

    def _item(self, item: re.Match[str], end: int) -> None:
        start = item.end()
        depth = len(item.group(1).expandtabs(4))
        if end - start <= MAX_CHARS:
            self._add("item", start, end, marker=item.group(2), depth=depth)
            return
        for index, span in enumerate(sentence_spans(self.text, start, end)):
            self._add("item", *span, marker="" if index else item.group(2), depth=depth)

    def _paragraph(self) -> None:
        begin = self.lines[self.at][0]
        while True:
            line_start, end = self.lines[self.at]
            if quoted := _QUOTE_MARK.match(self.text, line_start, end):
                # A quoted line stands alone: its mark can't be part of a verbatim quote.
                self._sentences(begin, line_start)
                self._sentences(quoted.end(), end)
                begin = end
            self.at += 1
            if self.at == len(self.lines) or self._begins_block(*self.lines[self.at]):
                break
            if self._stands_alone(line_start, end, *self.lines[self.at]):
                self._sentences(begin, end)
                begin = end
        self._sentences(min(begin, end), end)

    def _sentences(self, start: int, end: int) -> None:
        for span in sentence_spans(self.text, start, end):
            self._add("sentence", *span)

    def _begins_block(self, start: int, end: int) -> bool:
        line = self.text[start:end]
        return (
            not line.strip()
            or _is_row(line)
            or _ITEM.match(line) is not None
            or _HEADING.match(line) is not None
            or _FENCE.match(line) is not None
            or _RULE.match(line) is not None
        )

    def _stands_alone(self, start: int, end: int, next_start: int, next_end: int) -> bool:
        if self.text.endswith(("  ", "\\"), start, end):
            return True
        line, following = self.text[start:end].strip(), self.text[next_start:next_end].strip()
        width = sum(2 if char > "\u2e7f" else 1 for char in line[:_WRAPPED_WIDTH])
        return width < _WRAPPED_WIDTH and not following[:1].islower()


def _is_row(line: str) -> bool:
    stripped = line.strip()
    return len(stripped) > 1 and stripped[0] == "|" and stripped[-1] == "|"


def _line_spans(text: str) -> list[Span]:
    """Spans of the lines without their line breaks. Form feeds and such stay part of a line."""
    spans: list[Span] = []
    start = 0
    while (end := text.find("\n", start)) >= 0:
        spans.append((start, end))
        start = end + 1
    spans.append((start, len(text)))
    return spans


def _strip(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
