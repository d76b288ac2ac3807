"""Puts parsed text into sections: one for each run under one heading path on one page."""

from __future__ import annotations

import re

from retrieval.documents import Section
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.markdown import paragraphs
from retrieval.ingest.protocol import Unreadable

_MAX_HEADING_CHARS = 300
_MAX_PATH = 12
_SPACE = re.compile(r"\s+")


class SectionBuilder:
    """Collects headings and blocks in document order."""

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits
        self._chars = 0
        self._sections: list[Section] = []
        self._blocks: list[str] = []
        self._page: int | None = None
        #: (level, text) from the outermost heading to the innermost.
        self._path: list[tuple[float, str]] = []
        #: The innermost heading has no text under it yet.
        self._bare = False

    def page(self, number: int | None, *, keep_path: bool = True) -> None:
        """What follows stands on page `number` (from 1). Slides don't keep the path."""
        self._flush()
        if not keep_path:
            self._end_bare()
            self._path = []
        self._page = number

    def heading(self, level: float, text: str) -> None:
        """A heading; it ends those of its level and of greater ones."""
        text = _SPACE.sub(" ", text).strip()[:_MAX_HEADING_CHARS]
        if not text:
            return
        self._flush()
        if self._path and level <= self._path[-1][0]:
            self._end_bare()
        while self._path and (level <= self._path[-1][0] or len(self._path) >= _MAX_PATH):
            self._path.pop()
        self._path.append((level, text))
        self._bare = True

    def text(self, markdown: str) -> None:
        """A block of Markdown. Raises `Unreadable("too_large")` when there is more than the limit."""
        if not markdown.strip():
            return
        self._chars += len(markdown)
        if self._chars > self._limits.max_text_chars:
            raise Unreadable("too_large", f"more than {self._limits.max_text_chars} characters of text")
        self._blocks.append(markdown)
        self._bare = False

    def add(self, section: Section, *, under: tuple[str, ...] = ()) -> None:
        """A ready section, its path put below the current one and `under`."""
        self._flush()
        self._bare = False
        self._chars += len(section.markdown)
        if self._chars > self._limits.max_text_chars:
            raise Unreadable("too_large", f"more than {self._limits.max_text_chars} characters of text")
        path = (*self._headings(), *under, *section.heading_path)
        self._sections.append(section.model_copy(update={"heading_path": path}))

    def build(self) -> tuple[Section, ...]:
        """All sections. Raises `Unreadable("empty")` when there is no text at all."""
        self._flush()
        self._end_bare()
        if not any(any(char.isalnum() for char in section.markdown) for section in self._sections):
            raise Unreadable("empty")
        return tuple(self._sections)

    def _headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._path)

    def _flush(self) -> None:
        if body := paragraphs(self._blocks):
            self._sections.append(Section(page=self._page, heading_path=self._headings(), markdown=body))
        self._blocks = []

    def _end_bare(self) -> None:
        """A heading with nothing below it is text itself: the title of a picture slide, say."""
        if self._bare and self._path:
            mark = "#" * min(len(self._path), 6)
            body = f"{mark} {self._path[-1][1]}"
            self._sections.append(Section(page=self._page, heading_path=self._headings(), markdown=body))
        self._bare = False
