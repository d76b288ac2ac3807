"""From a file to sections of Markdown: detection by content, one parser a family of formats."""

from __future__ import annotations

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.detect import Kind, detect
from retrieval.ingest.parse.registry import make_parser, parsers_of
from retrieval.ingest.protocol import Unreadable

__all__ = ["Kind", "detect", "parse", "parsers_of"]

_DEFAULTS = ParseLimits()


def parse(
    name: str, data: bytes, *, parser: str | None = None, limits: ParseLimits = _DEFAULTS, depth: int = 0
) -> ParsedDocument:
    """Reads one file with the parser for what it is, or with `parser` when that can read this kind.

    `depth` counts the files that this one is attached to. Raises `Unreadable`.
    """
    if len(data) > limits.max_file_bytes:
        raise Unreadable("too_large", f"{len(data)} bytes")
    kind = detect(name, data, limits)
    choices = parsers_of(kind)
    chosen = parser if parser in choices else choices[0]

    def parse_inner(inner_name: str, inner: bytes, inner_depth: int) -> ParsedDocument:
        return parse(inner_name, inner, limits=limits, depth=inner_depth)

    return make_parser(chosen, limits, parse_inner, depth).parse(name, data)
