"""CSV and its like as a Markdown table under the header that the file has."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.parse.text.plain import cleaned

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
#: Rows that tell how many columns there are.
_WIDTH_ROWS = 1000
_MAX_FIELD = 10_000_000


class DelimitedParser:
    """The delimiter is the one that divides most lines into the same number of fields."""

    name = "csv"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        text = cleaned(data)
        builder = SectionBuilder(self._limits)
        delimiter = _delimiter(text)
        if delimiter is None:
            builder.text(markdown.plain(text))
        else:
            csv.field_size_limit(_MAX_FIELD)
            try:
                builder.text(
                    _table(csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True))
                )
            except csv.Error:
                builder.text(_table(line.split(delimiter) for line in text.splitlines()))
        return ParsedDocument(sections=builder.build(), parser=f"{self.name}/1")


def _table(rows: Iterable[list[str]]) -> str:
    filled = (row for row in rows if any(field.strip() for field in row))
    first = list(islice(filled, _WIDTH_ROWS))
    width = max((len(row) for row in first), default=0)
    return markdown.table_of(chain(first, filled), width) if width else ""


def _delimiter(text: str) -> str | None:
    """None where no delimiter divides the text into columns."""
    lines = [line for line in text[:200_000].splitlines() if line.strip()][:_SAMPLE_LINES]
    if lines and lines[0].lower().startswith("sep=") and len(lines[0].strip()) == 5:
        return lines[0].strip()[-1]
    best: tuple[float, int, str] | None = None
    for delimiter in _DELIMITERS:
        try:
            widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if row)
        except csv.Error:
            continue
        if not widths:
            continue
        width, rows = max(widths.items(), key=lambda item: (item[0] > 1, item[1], item[0]))
        score = rows / widths.total()
        if width > 1 and (best is None or (score, width) > best[:2]):
            best = (score, width, delimiter)
    return best[2] if best else None
