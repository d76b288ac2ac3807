"""JSON made readable: keys as headings and lines, lists of like records as tables."""

from __future__ import annotations

import json
from typing import Any, cast

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.parse.text.plain import cleaned
from retrieval.ingest.protocol import Unreadable

#: Levels of keys that become headings, when what is below them is long enough to part.
_MAX_HEADINGS = 4
_MIN_SPLIT = 1200
_MAX_COLUMNS = 20
_MAX_KEYS = 500
_MAX_INDENT = 20


class JsonParser:
    """JSON, and JSON Lines. What is no JSON is kept as it stands."""

    name = "json"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        text = cleaned(data)
        builder = SectionBuilder(self._limits)
        try:
            value, is_json = _load(text)
        except RecursionError as error:
            raise Unreadable("too_large", "nested too deep") from error
        if is_json:
            _write(value, builder, 1)
        else:
            builder.text(markdown.fenced(text, "json"))
        return ParsedDocument(sections=builder.build(), parser=f"{self.name}/1")


def _load(text: str) -> tuple[Any, bool]:
    try:
        return json.loads(text), True
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()], True
    except ValueError:
        return None, False


def _write(value: Any, builder: SectionBuilder, level: int) -> None:
    """Long objects and those with tables in them part into headings by key; the rest is lines."""
    if (table := _table(value)) is not None:
        builder.text(table)
    elif isinstance(value, dict) and level <= _MAX_HEADINGS and _is_parted(cast("dict[str, Any]", value)):
        fields = cast("dict[str, Any]", value)
        plain = {key: item for key, item in fields.items() if not isinstance(item, dict | list) or not item}
        builder.text("\n".join(_lines(plain)) if plain else "")
        for key, item in fields.items():
            if isinstance(item, dict | list) and item:
                builder.heading(level, str(key))
                _write(item, builder, level + 1)
    elif isinstance(value, list) and level <= _MAX_HEADINGS and any(map(_table, cast("list[Any]", value))):
        for item in cast("list[Any]", value):
            _write(item, builder, level + 1)
    else:
        builder.text(markdown.plain("\n".join(_lines(value))))


def _is_parted(value: dict[str, Any]) -> bool:
    """Whether keys make headings: few enough to be names, not data, and enough below them."""
    return len(value) <= _MAX_KEYS and (
        any(_table(item) for item in value.values()) or _long(_lines(value))
    )


def _long(lines: list[str]) -> bool:
    return sum(map(len, lines)) >= _MIN_SPLIT


def _table(value: Any) -> str | None:
    """A table of records with the same few keys and plain values; None for what is no such list."""
    if (
        not isinstance(value, list)
        or len(value) < 2
        or not all(isinstance(item, dict) and item for item in value)
    ):
        return None
    records = cast("list[dict[str, Any]]", value)
    columns = list(dict.fromkeys(key for record in records for key in record))
    filled = sum(len(record) for record in records)
    if len(columns) > _MAX_COLUMNS or filled < 0.6 * len(columns) * len(records):
        return None
    if any(isinstance(item, dict | list) and item for record in records for item in record.values()):
        return None
    return markdown.table(
        [columns, *([_scalar(record.get(key, "")) for key in columns] for record in records)]
    )


def _lines(value: Any) -> list[str]:
    """One line a value, laid out as in YAML; iterative."""
    lines: list[str] = []
    pending: list[tuple[int, str, Any]] = [(0, "", value)]
    while pending:
        depth, lead, item = pending.pop()
        indent = "  " * min(depth, _MAX_INDENT)
        below: list[tuple[int, str, Any]] = []
        if isinstance(item, dict) and item:
            pairs = list(cast("dict[str, Any]", item).items())
            if lead.endswith(":"):
                lines.append(f"{indent}{lead}")
            inner = depth + bool(lead)
            below = [(inner, f"{key}:", sub) for key, sub in pairs]
            if lead == "-":
                # The first key stands beside its item's mark.
                below[0] = (depth, f"- {pairs[0][0]}:", pairs[0][1])
        elif isinstance(item, list) and item:
            if lead:
                lines.append(f"{indent}{lead}")
            below = [(depth + bool(lead), "-", sub) for sub in cast("list[Any]", item)]
        else:
            lines.append(f"{indent}{lead} {_scalar(item)}".rstrip() if lead else _scalar(item))
        pending.extend(reversed(below))
    return lines


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    return "" if value is None or value in ([], {}) else json.dumps(value, ensure_ascii=False)
