"""Parsed documents and metadata for the tests of ingest."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from retrieval.documents import Chunk, DocumentMeta, ParsedDocument, Section
from retrieval.ingest.chunk import chunk


def meta_of(**changes: Any) -> DocumentMeta:
    values = {
        "workspace": "w1",
        "knowledge_base": "general",
        "document_id": "d1",
        "version_id": "v1",
        "version": 1,
        "name": "handbook.md",
        "title": "handbook",
        "media_type": "text/markdown",
        "uploaded_at": datetime(2026, 3, 1, tzinfo=UTC),
    }
    return DocumentMeta.model_validate(values | changes)


def section(markdown: str, *path: str, page: int | None = None) -> Section:
    return Section(markdown=markdown, heading_path=path, page=page)


def parsed_of(*sections: Section | str, **fields: Any) -> ParsedDocument:
    whole = tuple(section(s) if isinstance(s, str) else s for s in sections)
    return ParsedDocument(sections=whole, parser="test/1", **fields)


def chunks_of(*sections: Section | str, budget: int = 350, minimum: int = 80) -> list[Chunk]:
    return chunk(parsed_of(*sections), meta_of(), budget=budget, minimum=minimum)


def words(count: int, start: int = 0) -> str:
    """Numbered words of one token each: "w0 w1 ..." would be two."""
    return " ".join(_word(i) for i in range(start, start + count))


def _word(number: int) -> str:
    letters = ""
    for _ in range(4):
        number, rest = divmod(number, 26)
        letters = chr(97 + rest) + letters
    return f"w{letters}"
