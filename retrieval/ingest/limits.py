"""What one file may cost: bytes, pages, time, memory and text."""

from __future__ import annotations

from pydantic import Field

from retrieval.documents import Frozen

MIB = 1024 * 1024


class ParseLimits(Frozen):
    """Limits of parsing one file; a file beyond one of them is refused, the others go on."""

    #: Wall-clock seconds from handing a file to a worker to its answer.
    seconds: float = Field(default=120.0, gt=0)
    #: MiB of memory that a worker may hold; about 60 of them are the parsers themselves.
    memory_mb: int = Field(default=1024, ge=128)
    max_file_bytes: int = Field(default=100 * MIB, ge=1)
    max_pages: int = Field(default=5000, ge=1)
    #: Characters of Markdown that come out, headings not counted.
    max_text_chars: int = Field(default=32 * MIB, ge=1)
    #: Bytes that the members of a ZIP container (DOCX, ODT, EPUB ...) hold when unpacked.
    max_unpacked_bytes: int = Field(default=512 * MIB, ge=1)
    max_archive_entries: int = Field(default=20_000, ge=1)
    #: Levels of what contains itself: a mail in a mail, a list in a list, an element in an element.
    max_depth: int = Field(default=200, ge=1)
    #: Attachments read in one mail, those of attached mails included.
    max_attachments: int = Field(default=100, ge=0)
