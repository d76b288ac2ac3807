"""How expected text is looked for: letters and digits in their order, looks and marks left out."""

from __future__ import annotations

import re
import unicodedata

from retrieval.documents import ParsedDocument, Section
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import parse
from retrieval.ingest.protocol import Reason, Unreadable

_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"), None)
_ALIKE = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-"})
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^)]*\)")
_MARKS = re.compile(r"[|*_#`~\\>]+")


def squashed(text: str) -> str:
    """`text` without white space, Markdown's marks, and the differences between like characters."""
    text = unicodedata.normalize("NFKC", text).translate(_INVISIBLE)
    text = _LINK.sub(r"\1", text).translate(_ALIKE)
    return re.sub(r"\s+", "", _MARKS.sub(" ", text)).casefold()


def read_whole(document: ParsedDocument) -> str:
    """All that can be found of a document: each heading once, and the text under it."""
    seen: tuple[str, ...] = ()
    parts: list[str] = []
    for section in document.sections:
        new = [
            h
            for at, h in enumerate(section.heading_path)
            if section.heading_path[: at + 1] != seen[: at + 1]
        ]
        parts += [*new, section.markdown]
        seen = section.heading_path
    return "\n".join(parts)


def sections_with(document: ParsedDocument, text: str) -> list[Section]:
    """The sections that say `text`, headings included."""
    wanted = squashed(text)
    return [
        section
        for section in document.sections
        if wanted in squashed("\n".join([*section.heading_path, section.markdown]))
    ]


def is_under(section: Section, heading: str) -> bool:
    return any(squashed(heading) in squashed(above) for above in section.heading_path)


def outcome(name: str, data: bytes, *, parser: str | None = None, **limits: int) -> ParsedDocument | Reason:
    """The document, or why the file is refused."""
    try:
        return parse(name, data, parser=parser, limits=ParseLimits(**limits))  # pyright: ignore[reportArgumentType]
    except Unreadable as refusal:
        return refusal.reason
