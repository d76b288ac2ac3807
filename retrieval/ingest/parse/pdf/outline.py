"""A PDF's own outline (bookmarks), and where on its pages the entries stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pypdfium2 as pdfium

from retrieval.ingest.parse.pdf.lines import Line, Page

#: An outline with more entries than this is an index; a deeper one is broken.
_MAX_ENTRIES = 5000
_MAX_DEPTH = 8
_MAX_LINES = 4
_NUMBER = re.compile(r"(?:chapter|part|section|appendix|kapitel|teil|chapitre)?(?:\d*|[ivxlc]+|[a-z]\d*)")


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """`page` counts from 1; `level` from 0."""

    level: int
    title: str
    page: int


def read_outline(document: pdfium.PdfDocument) -> list[OutlineEntry]:
    """Entries that lead to a page; an outline that can't be read is no outline."""
    entries: list[OutlineEntry] = []
    try:
        for bookmark in document.get_toc(max_depth=_MAX_DEPTH):
            destination = bookmark.get_dest()
            index = destination.get_index() if destination else None
            title = " ".join(bookmark.get_title().split())
            if title and index is not None:
                entries.append(OutlineEntry(bookmark.level, title, index + 1))
            if len(entries) >= _MAX_ENTRIES:
                break
    except pdfium.PdfiumError:
        return entries
    return entries


def match_outline(
    pages: list[Page], outline: list[OutlineEntry]
) -> dict[int, tuple[tuple[Line, ...], OutlineEntry]]:
    """The lines of each entry that stands on its page, by the `id` of the first; others are left out."""
    by_number = {page.number: page for page in pages}
    found: dict[int, tuple[tuple[Line, ...], OutlineEntry]] = {}
    for entry in outline:
        page = by_number.get(entry.page)
        lines = _lines_of(page, entry.title, found) if page else None
        if lines:
            found[id(lines[0])] = lines, entry
    return found


def _lines_of(page: Page, title: str, taken: Mapping[int, object]) -> tuple[Line, ...] | None:
    """Lines that say `title` and nothing else but a number before it; the largest type wins."""
    wanted = _letters(title)
    best: tuple[Line, ...] | None = None
    for start, first in enumerate(page.lines):
        said = ""
        for end in range(start, min(start + _MAX_LINES, len(page.lines))):
            said += _letters(page.lines[end].text)
            if len(said) > len(wanted) + 12:
                break
            if _says(said, wanted) and id(first) not in taken:
                if best is None or first.size > best[0].size:
                    best = tuple(page.lines[start : end + 1])
                break
    return best


def _says(said: str, wanted: str) -> bool:
    """Equal but for a number that only one of them has: "3.1 Roles" on the page, "Roles" in the outline."""
    longer, shorter = (said, wanted) if len(said) >= len(wanted) else (wanted, said)
    if not shorter or not longer.endswith(shorter):
        return False
    return _NUMBER.fullmatch(longer[: len(longer) - len(shorter)]) is not None


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
