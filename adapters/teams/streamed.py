"""An answer on its way, as text that only ever grows: Teams takes nothing else in a stream. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from adapters.blocks import to_blocks
from adapters.teams import limits
from adapters.teams.text import dialect

_DIALECT: Final = dialect({str(number): number for number in range(1, 51)})
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
#: Ends a sentence: what follows may still become something else.
_SENTENCE: Final = re.compile(r"[.!?…:;](?=\s)|[。！？]")


@dataclass
class _Chunk:
    """Blocks that stand together, up to an empty line after which nothing more belongs to them."""

    text: str = ""
    #: Where it may be shown up to.
    ends: list[int] = field(default_factory=list[int])


def streamed_text(markdown: str) -> str:
    """What may be shown of an answer that is being written.

    What is shown of a text begins with what was shown of any beginning of that text. Sentences, items and
    whole fences come as they are complete; tables, which stand on a card, and what would change the look
    of something that is there already, wait for the reply.
    """
    shown = (_grown(chunk) for chunk in _chunks(markdown[: limits.STREAM_TEXT]))
    return "\n\n".join(text for text in shown if text)


def _grown(chunk: _Chunk) -> str:
    """End by end, as far as each goes on from the one before."""
    shown = ""
    for end in chunk.ends:
        blocks = to_blocks(chunk.text[:end], _DIALECT, limit=limits.STREAM_TEXT)
        text = "\n\n".join(block.text for block in blocks if block.table is None).strip()
        if text.startswith(shown):
            shown = text
    return shown


def _chunks(markdown: str) -> Iterator[_Chunk]:
    chunk, fence, empty, bar = _Chunk(), "", False, False
    for line in markdown.splitlines(keepends=True):
        if not fence and not line.strip():
            empty = True
        elif empty and not fence and not line[0].isspace():
            chunk.ends.append(len(chunk.text))
            yield chunk
            chunk, empty, bar = _Chunk(), False, False
        begun = len(chunk.text)
        chunk.text += line
        was, fence = fence, _fenced(line, fence)
        if bar or fence:
            continue
        if not was:
            sentences = _SENTENCE.finditer(line.partition("|")[0])
            chunk.ends += [begun + found.end() for found in sentences]
            bar = "|" in line  # of a table, perhaps
        if line.endswith("\n") and not bar:
            chunk.ends.append(len(chunk.text))
    yield chunk


def _fenced(line: str, fence: str) -> str:
    """The fence that is open after the line; empty for none."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return found[1]
    closes = found[1].startswith(fence) and not line[found.end() :].strip()
    return "" if closes else fence
