"""The seam of ingest: parsers, and the reasons for which a file is refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

from retrieval.documents import Frozen, ParsedDocument

Reason = Literal[
    "encrypted",
    "empty",  # nothing to read, scans without a text layer included
    "corrupt",
    "unsupported",
    "too_large",  # bytes, pages, or text that comes out
    "timeout",
    "mislabelled",  # its content is another kind than its name says, and not one we can read
]

#: One sentence for the person, with what to do next.
ADVICE: dict[Reason, str] = {
    "encrypted": "This file is protected with a password. Save a copy without one and upload that.",
    "empty": "There is no text in this file. If it is a scan, run text recognition (OCR) first.",
    "corrupt": "This file is damaged or incomplete. Open it, save it again and upload the new copy.",
    "unsupported": "This kind of file can't be read. Export it as PDF, DOCX, HTML, Markdown or text.",
    "too_large": "This file is too large to read. Split it into smaller parts and upload those.",
    "timeout": "Reading this file took too long. Split it, or save it in a simpler format.",
    "mislabelled": "This file is not what its name says. Give it the right ending and upload it again.",
}


class Unreadable(Exception):
    """A file that can't be read, for a reason that a person can act on."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        self.reason: Reason = reason
        #: For the log; holds no document text.
        self.detail = detail
        super().__init__(f"{reason}: {detail}" if detail else reason)

    @property
    def advice(self) -> str:
        return ADVICE[self.reason]


class Parser(Protocol):
    """Synchronous: it runs in a worker process with limits on time, memory and output."""

    name: str

    def parse(self, name: str, data: bytes) -> ParsedDocument:
        """Raises `Unreadable`."""
        ...


Stage = Literal["queued", "parsing", "chunking", "embedding", "indexing", "done", "failed"]


class IngestProgress(Frozen):
    stage: Stage
    #: Counts for a progress bar, in units of the stage (chunks while embedding and indexing).
    done: int = 0
    total: int = 0


Report = Callable[[IngestProgress], Awaitable[None]]
