"""From printed lines to Markdown: paragraphs made whole, words rejoined, tables, code and lists kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.pdf.headings import LEADER
from retrieval.ingest.parse.pdf.line import Line, Page
from retrieval.ingest.parse.pdf.tables import cells, find_table, is_wide

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BULLET = re.compile(r"(?:[•▪◦●○■□➢➤✓*–—·]|-)(?=\s)|(?:\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])(?=\s)|\[\d{1,4}\]")
_BULLET_SIGN = re.compile(r"[•▪◦●○■□➢➤✓·](?=\s)")
#: Scripts that put no space between words.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uff00-\uff60]")
#: More of the text in type of one width than this, and that type is no sign of code.
_MONO_SHARE = 0.5


class Writer:
    """Writes lines as Markdown; knows the document's words, to tell broken words from compounds."""

    def __init__(self, pages: list[Page]) -> None:
        self._words: Counter[str] = Counter()
        mono = total = 0
        for page in pages:
            for line in page.lines:
                self._words.update(_WORD.findall(line.text.casefold()))
                mono += len(line.text) * line.mono
                total += len(line.text)
        self._mono_is_code = mono <= _MONO_SHARE * total

    def write(self, lines: list[Line]) -> str:
        """Markdown of lines in reading order, without headings."""
        blocks: list[str] = []
        at = 0
        while at < len(lines):
            if self._mono_is_code and (end := _code_end(lines, at)) > at:
                blocks.append(markdown.fenced(_indented(lines[at:end])))
            elif table := find_table(lines, at):
                end = at + table.lines
                blocks.append(markdown.table(table.rows, header=table.header))
            else:
                end = self._paragraph_end(lines, at)
                blocks.append(self._join(lines[at:end], _right_margin(lines, at)))
            at = end
        return markdown.paragraphs(blocks)

    def _paragraph_end(self, lines: list[Line], start: int) -> int:
        end = start + 1
        while end < len(lines):
            last, line = lines[end - 1], lines[end]
            if not last.broken and (
                _breaks(last, line)
                or (self._mono_is_code and line.mono != last.mono)
                or find_table(lines, end)
            ):
                break
            end += 1
        return end

    def _join(self, lines: list[Line], right: float) -> str:
        text = ""
        for last, line in zip([None, *lines], lines, strict=False):
            written = _written(line)
            if last is None:
                text = written
            elif last.broken or (last.text.endswith("-") and line.text[:1].islower()):
                text = self._rejoin(text.removesuffix("-"), written)
            elif _BULLET.match(line.text) or _is_row(line) or _is_row(last) or _ends_early(last, right):
                text += "\n" + written
            elif _UNSPACED.match(text[-1:]) and _UNSPACED.match(written[:1]):
                text += written
            else:
                text += " " + written
        return text

    def _rejoin(self, before: str, after: str) -> str:
        """Joins the parts of a word broken at a line's end, with the hyphen where it belongs there."""
        left = re.search(r"[^\W\d_]*$", before)
        right = re.match(r"[^\W\d_]*", after)
        first, second = (left.group() if left else ""), (right.group() if right else "")
        whole, compound = (first + second).casefold(), f"{first}-{second}".casefold()
        keeps = not second or not second[0].islower() or not first
        if not keeps:
            keeps = self._words[compound] > self._words[whole]
        return f"{before}-{after}" if keeps else before + after


def _is_row(line: Line) -> bool:
    """Gaps as between columns; those of justified text are smaller or fewer."""
    return is_wide(line, 2.0) or (is_wide(line) and len(cells(line)) > 3)


def _ends_early(line: Line, right: float) -> bool:
    return line.x1 < right - 0.25 * max(right - line.x0, 1) - line.size


def _right_margin(lines: list[Line], at: int) -> float:
    """How far the lines near `at` reach that begin at about the same place."""
    here = lines[at]
    near = lines[max(0, at - 30) : at + 60]
    return max((line.x1 for line in near if abs(line.x0 - here.x0) < 4 * here.size), default=here.x1)


def _breaks(last: Line, line: Line) -> bool:
    """Whether a new paragraph begins with `line`."""
    gap = line.top - last.bottom
    if gap > 0.75 * line.height or line.bottom < last.top:
        return True
    if abs(line.size - last.size) > 1.5 or line.rotated != last.rotated:
        return True
    indented = line.x0 > last.x0 + 0.8 * line.size
    ended = last.text.endswith((".", "!", "?", ":", "。", "！", "？", "：", "؟", "।"))
    return indented and ended and not _BULLET.match(last.text) and gap > -0.5 * line.height


def _written(line: Line) -> str:
    """A line's text with its links, list signs as Markdown has them, and leader dots shortened."""
    parts: list[str] = []
    for address, words in groupby(line.words, key=lambda word: word.link):
        text = " ".join(word.text for word in words)
        parts.append(markdown.link(text, address) if address else text)
    text = LEADER.sub(" … ", " ".join(parts))
    return _BULLET_SIGN.sub("-", text, count=1) if _BULLET_SIGN.match(text) else text


def _code_end(lines: list[Line], start: int) -> int:
    end = start
    while end < len(lines) and lines[end].mono and (end == start or lines[end].top >= lines[end - 1].top):
        end += 1
    return end


def _indented(lines: Iterable[Line]) -> str:
    lines = list(lines)
    left = min(line.x0 for line in lines)
    return "\n".join(" " * round((line.x0 - left) / (0.6 * line.size)) + line.text for line in lines)
