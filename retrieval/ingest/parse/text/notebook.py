"""Jupyter notebooks: Markdown cells as text, code cells as code with what they printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.meta import clean_title
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.parse.text.markup import write_markdown
from retrieval.ingest.parse.text.objects import JsonParser
from retrieval.ingest.parse.text.plain import cleaned


class NotebookParser:
    """Notebook format 4; what is none is read as JSON."""

    name = "notebook"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:
        notebook = _load(cleaned(data))
        if notebook is None:
            return JsonParser(self._limits).parse(name, data)
        kernel = _object(_object(notebook.get("metadata")).get("kernelspec"))
        language = str(kernel.get("language") or "python")
        builder, title = SectionBuilder(self._limits), None
        for cell in map(_object, notebook["cells"]):
            source = _text(cell.get("source"))
            if cell.get("cell_type") == "markdown":
                title = write_markdown(source, builder) or title
            elif cell.get("cell_type") == "code" and source.strip():
                builder.text(markdown.fenced(source, language))
                for said in _printed(cell):
                    builder.text(markdown.fenced(said))
            else:
                builder.text(markdown.plain(source))
        return ParsedDocument(sections=builder.build(), title=clean_title(title), parser=f"{self.name}/1")


def _load(text: str) -> dict[str, Any] | None:
    try:
        notebook = _object(json.loads(text))
    except (ValueError, RecursionError):
        return None
    return notebook if isinstance(notebook.get("cells"), list) else None


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(source: Any) -> str:
    return "".join(map(str, cast("list[Any]", source))) if isinstance(source, list) else str(source or "")


def _printed(cell: dict[str, Any]) -> Iterator[str]:
    """Text that a code cell put out; pictures and HTML say it again."""
    outputs = cell.get("outputs")
    for output in map(_object, cast("list[Any]", outputs) if isinstance(outputs, list) else ()):
        said = _text(output.get("text") or _object(output.get("data")).get("text/plain"))
        if said.strip():
            yield said
