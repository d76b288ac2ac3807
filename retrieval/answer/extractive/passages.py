"""A source as the extractive answerer reads it: its units, their words and their surroundings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from retrieval.answer.events import Source
from retrieval.answer.extractive.sentences import Span
from retrieval.answer.extractive.terms import Term, fold, identifiers_of, terms_of
from retrieval.answer.extractive.units import Unit, units_of
from retrieval.answer.language import language_of
from retrieval.documents import Chunk
from retrieval.ingest.language import UNDETERMINED
from retrieval.ingest.tables import cells

#: Characters of a unit that are embedded and compared: enough for any sentence, and a bound for code.
_READ_CHARS = 500
_HEADING_CHARS = 100
_TITLE_CHARS = 60
#: A number says something; and Thai and its neighbours have no stops by which a title could be told.
_NO_TITLE = re.compile(r"(?<![\w.])\d|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_STOPPED = re.compile(r"[.!?:;,…。！？：；，、।؟][\"'”“’»）)*_`\]]*\Z")


@dataclass(frozen=True)
class Line:
    """A unit that can be quoted, and what is known of it by itself."""

    unit: Unit
    #: As it is read and compared: without Markdown's table bars, a row with its column names.
    text: str
    #: Heading that it stands under, inside the passage or else of the passage.
    heading: str

    @cached_property
    def terms(self) -> list[Term]:
        return terms_of(self.text)

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(term.key for term in self.terms)

    @cached_property
    def heading_keys(self) -> frozenset[str]:
        return frozenset(term.key for term in terms_of(self.heading))

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Error codes, part numbers and such in the line or in its heading."""
        return identifiers_of(f"{self.heading} {self.text}")

    @cached_property
    def folded(self) -> str:
        """Without case and accents, for words inside compounds ("urlaub" in "jahresurlaub")."""
        return fold(self.text)

    @property
    def embedded(self) -> str:
        """What is embedded: with the heading before it, as passages are embedded with theirs."""
        return f"{self.heading}: {self.text}" if self.heading else self.text


@dataclass(frozen=True)
class Passage:
    """The lines of one source. `rank` counts from 0."""

    source: Source
    rank: int
    language: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        return self.source.chunk.text

    @cached_property
    def headings(self) -> str:
        """Title of the document and headings above the passage."""
        chunk = self.source.chunk
        return " ".join((chunk.meta.title, *chunk.heading_path))

    @cached_property
    def heading_keys(self) -> frozenset[str]:
        return frozenset(term.key for term in terms_of(self.headings))

    @cached_property
    def heading_identifiers(self) -> frozenset[str]:
        return identifiers_of(self.headings)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        return self.heading_identifiers | identifiers_of(self.text)

    @cached_property
    def keys(self) -> frozenset[str]:
        return self.heading_keys.union(*(line.keys for line in self.lines))


def read_passages(sources: Sequence[Source]) -> list[Passage]:
    """The sources in their order, which is their rank."""
    return [read_passage(source, rank) for rank, source in enumerate(sources)]


def read_passage(source: Source, rank: int) -> Passage:
    return Passage(source, rank, _language(source.chunk), _lines(source.chunk))


def _language(chunk: Chunk) -> str:
    return chunk.language if chunk.language != UNDETERMINED else language_of(chunk.text) or "en"


def _lines(chunk: Chunk) -> tuple[Line, ...]:
    heading = chunk.heading_path[-1] if chunk.heading_path else chunk.meta.title
    return lines_of(chunk.text, " ".join(heading.split())[:_HEADING_CHARS])


@lru_cache(maxsize=256)
def lines_of(text: str, heading: str = "", *, titles: bool = True) -> tuple[Line, ...]:
    """The quotable lines of a text. `heading` is that of those before its first heading.

    titles: lines of plain text that look like a title are headings, too.
    """
    lines: list[Line] = []
    units = units_of(text)
    for place, unit in enumerate(units):
        if unit.kind == "heading" or (titles and _is_title(units, place, text)):
            heading = unit.of(text)[:_HEADING_CHARS]
        else:
            lines.append(Line(unit, _read(unit, text)[:_READ_CHARS], heading))
    return tuple(lines)


def _is_title(units: Sequence[Unit], place: int, text: str) -> bool:
    """Whether a line of plain text is the title of what follows it: short, without a stop or a number, on
    a line of its own, and before a whole sentence or, at the head of the text, before another title."""
    unit = units[place]
    line = unit.of(text)
    if unit.kind != "sentence" or place + 1 == len(units) or len(line) > _TITLE_CHARS:
        return False
    if _STOPPED.search(line) or _NO_TITLE.search(line):
        return False
    begin = text.rfind("\n", 0, unit.start) + 1
    end = text.find("\n", unit.end)
    if text[begin : unit.start].strip() or text[unit.end : end if end >= 0 else len(text)].strip():
        return False
    following = units[place + 1]
    whole = following.kind == "sentence" and _STOPPED.search(following.of(text)) is not None
    return whole or (place == 0 and _is_title(units, 1, text))


def _read(unit: Unit, text: str) -> str:
    if unit.kind != "row":
        return " ".join(unit.of(text).split())
    return ", ".join(f"{name}: {value}" if name else value for name, value in columns(unit, text) if value)


def columns(unit: Unit, text: str) -> list[tuple[str, str]]:
    """(column name, value) of each cell of a row; the name is empty where the table has none."""
    names = cells(_part(text, unit.header)) if unit.header else []
    values = cells(unit.of(text))
    names += [""] * (len(values) - len(names))
    return list(zip(names, values, strict=False))


def _part(text: str, span: Span) -> str:
    return text[span[0] : span[1]]
