"""How documents begin: their first lines, in order, as excerpts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from retrieval.answer.events import Source
from retrieval.answer.extractive.passages import Passage, read_passages
from retrieval.answer.extractive.select import Excerpt, Form
from retrieval.answer.extractive.units import UnitKind
from retrieval.answer.protocol import Length

#: Lines of one document.
_LINES: Final[dict[Length, int]] = {"concise": 5, "steps": 8, "detailed": 12}
_FORMS: Final[dict[UnitKind, Form]] = {"sentence": "prose", "item": "list", "row": "table", "code": "code"}


def beginnings(sources: Sequence[Source], length: Length) -> list[Excerpt]:
    """The first lines of each document; `sources` are its first passages, document after document."""
    passages = read_passages(sources)
    excerpts: list[Excerpt] = []
    for _, document in groupby(passages, key=lambda passage: passage.source.chunk.meta.version_id):
        left = _LINES[length]
        for passage in document:
            shown = range(min(left, len(passage.lines)))
            left -= len(shown)
            excerpts += _excerpts(passage, shown)
    return excerpts


def _excerpts(passage: Passage, shown: Sequence[int]) -> list[Excerpt]:
    """Lines of one paragraph, list or table stand together."""

    def block(at: int) -> tuple[UnitKind, int]:
        unit = passage.lines[at].unit
        return unit.kind, unit.group

    return [Excerpt(passage, _FORMS[kind], tuple(at)) for (kind, _), at in groupby(shown, key=block)]
