"""Plain text, source code and YAML: as they stand, with their charset put right."""

from __future__ import annotations

import re
from collections.abc import Callable

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.charset import decode
from retrieval.ingest.parse.detect import ending
from retrieval.ingest.parse.languages import LANGUAGES
from retrieval.ingest.parse.sections import SectionBuilder

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_DEFINITIONS = (
    # Python and Ruby: by the word that defines.
    re.compile(r"(?:async\s+def|def|class|module)\s+([\w.?!]+(?:::\w+)*)"),
    # C-like: types and functions at the left edge.
    re.compile(
        r"(?:(?:export|default|public|private|protected|internal|static|abstract|final|sealed|partial|data|async|"
        r"unsafe|pub(?:\([^)]*\))?)\s+)*(?:class|interface|struct|enum|trait|impl(?:<[^>]*>)?|record|object|union|"
        r"namespace|protocol|extension|fn|func|fun|function\*?|sub|type)\s+(?:\([^)]*\)\s*)?([\w$.:<>]+)"
    ),
    # Shell, and SQL's objects.
    re.compile(r"([\w-]+)\s*\(\)\s*\{"),
    re.compile(
        r"create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?"
        r"(?:table|view|function|procedure|index|trigger|type)\s+(?:if\s+not\s+exists\s+)?([\w.\"`\[\]]+)",
        re.IGNORECASE,
    ),
)
#: How comments and decorators begin that stand above what they belong to.
_LEAD = ("#", "//", "/*", " *", "@", "--", "[")
_YAML_KEY = re.compile(r"(['\"]?)([^\s#'\"{}\[\],&*|>%@`-][^'\"#:]{0,80})\1:(?:\s|$)")
#: A file with fewer characters is read whole; headings would only cut it up.
_MIN_SPLIT = 1500
#: A file with more definitions was made by a program, and its names are no headings.
_MAX_PIECES = 5000


class TextParser:
    """Text of any kind; a form feed turns the page."""

    name = "text"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        builder = SectionBuilder(self._limits)
        pages = cleaned(data).split("\f")
        for number, page in enumerate(pages, 1):
            builder.page(number if len(pages) > 1 else None)
            builder.text(markdown.plain(page.strip("\n")))
        return ParsedDocument(
            sections=builder.build(), pages=len(pages) if len(pages) > 1 else None, parser=f"{self.name}/1"
        )


class CodeParser:
    """Source code in fences, under the names of its top-level definitions."""

    name = "code"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:
        code = cleaned(data)
        builder = SectionBuilder(self._limits)
        _write_split(code, LANGUAGES.get(ending(name), ""), _definition, builder)
        return ParsedDocument(sections=builder.build(), parser=f"{self.name}/1")


class YamlParser:
    """YAML as it was written, comments and all, under its top-level keys. Nothing is expanded."""

    name = "yaml"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        builder = SectionBuilder(self._limits)
        _write_split(cleaned(data), "yaml", _top_key, builder)
        return ParsedDocument(sections=builder.build(), parser=f"{self.name}/1")


def cleaned(data: bytes) -> str:
    """Decoded text with one kind of line end and no control characters or terminal colours."""
    text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", _ANSI.sub("", text))


def _write_split(
    text: str, language: str, name_of: Callable[[str], str | None], builder: SectionBuilder
) -> None:
    """Fenced pieces of `text`, each under the name that its first line at the left edge defines.

    Comments and decorators right above a definition belong to it.
    """
    pieces: list[tuple[str | None, list[str]]] = [(None, [])]
    for line in text.split("\n"):
        name = name_of(line) if line[:1].strip() and len(text) >= _MIN_SPLIT else None
        if name is not None:
            pieces.append((name, _take_lead(pieces[-1][1])))
        pieces[-1][1].append(line)
        if len(pieces) > _MAX_PIECES:
            pieces = [(None, [text])]
            break
    for name, lines in pieces:
        piece = "\n".join(lines).strip("\n")
        if piece.strip():
            if name is not None:
                builder.heading(1, name)
            builder.text(markdown.fenced(piece, language))


def _take_lead(lines: list[str]) -> list[str]:
    at = len(lines)
    while at and lines[at - 1].startswith(_LEAD):
        at -= 1
    lead = lines[at:]
    del lines[at:]
    return lead


def _definition(line: str) -> str | None:
    for pattern in _DEFINITIONS:
        if match := pattern.match(line):
            return match.group(1).strip('"`[]')
    return None


def _top_key(line: str) -> str | None:
    match = _YAML_KEY.match(line)
    return match.group(2).strip() if match else None
