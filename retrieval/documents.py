"""What a document is once it has left its file: metadata, parsed sections, chunks."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field

#: Namespace of every id that Footnote derives from content, so that the same work has the same id.
NAMESPACE = UUID("6f1d8f0e-6b0a-5a53-9c0e-0f5b1d7c7a11")

#: Audience key of a document that everyone in its workspace may read.
EVERYONE = "workspace"
#: Audience key of a document that guests and other organisations may read too.
SHAREABLE = "shareable"


def channel_audience(platform: str, tenant: str, channel: str) -> str:
    """Audience key of the members of one channel."""
    return f"channel:{platform}:{tenant}:{channel}"


def person_audience(person: str) -> str:
    """Audience key of one person (`person` is the workspace-wide person id)."""
    return f"person:{person}"


_THREAD = "thread:"


def thread_audience(conversation: str, reader: str | None = None) -> str:
    """Audience key of those who read one thread: of what was attached to a question there.

    With `reader` (a workspace-wide person id) that of one of them alone: of what came with a question
    whose reply only they see.
    """
    return f"{_THREAD}{conversation}" if reader is None else f"{_THREAD}{conversation}|reader:{reader}"


def is_attachment(meta: DocumentMeta) -> bool:
    """Whether a document belongs to one thread alone."""
    return any(key.startswith(_THREAD) for key in meta.audience)


class Frozen(BaseModel):
    """Base of the immutable values that cross a seam."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DocumentMeta(Frozen):
    """Everything about a document version except its text. All of it travels with each chunk."""

    workspace: str
    knowledge_base: str
    document_id: str
    version_id: str
    #: Counts up from 1; the greater version of a document replaces the smaller.
    version: int = Field(ge=1)
    #: File name as uploaded, e.g. "keys.md".
    name: str
    title: str
    media_type: str
    #: Where the original can be read by people, if it has such a place.
    source_url: str | None = None
    labels: tuple[str, ...] = ()
    uploader: str | None = None
    #: Keys of those who may read it; see `EVERYONE`, `SHAREABLE`, `channel_audience`, `person_audience`.
    audience: tuple[str, ...] = (EVERYONE,)
    uploaded_at: datetime
    #: Date that the document itself states, where it states one.
    document_date: datetime | None = None
    #: Free fields; those named in the knowledge base's settings are told to the model.
    fields: dict[str, str] = Field(default_factory=dict[str, str])


class Section(Frozen):
    """A run of parsed text under one heading path on one page, as Markdown."""

    #: 1-based page, slide or sheet-less None; None where the format has no pages.
    page: int | None = None
    #: Headings from the outermost to the innermost, without Markdown marks.
    heading_path: tuple[str, ...] = ()
    #: Markdown body: pipe tables, fenced code, links kept. Headings inside are allowed.
    markdown: str


class ParsedDocument(Frozen):
    """The outcome of a parser."""

    sections: tuple[Section, ...]
    title: str | None = None
    pages: int | None = None
    document_date: datetime | None = None
    #: "parser-name/version", so that "parse again with ..." and a reindex know what made it.
    parser: str
    #: Shown to the uploader, e.g. "page 3 could not be read".
    warnings: tuple[str, ...] = ()


ChunkKind = Literal["passage", "summary"]


class Chunk(Frozen):
    """What is embedded, searched and cited. `kind="summary"` is searched but never cited."""

    chunk_id: str
    meta: DocumentMeta
    kind: ChunkKind = "passage"
    #: Position within its document version, from 0; the summary has -1.
    ordinal: int
    #: Markdown as it stands in the document (table headers may be repeated).
    text: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    page_end: int | None = None
    #: ISO 639-1 code of the text, "und" when it can't be told.
    language: str = "und"

    def context(self) -> str:
        """Text as it is embedded: title and heading path stand before the passage."""
        heads = [self.meta.title, *(h for h in self.heading_path if h != self.meta.title)]
        return " > ".join(h for h in heads if h) + "\n" + self.text


def chunk_id(version_id: str, ordinal: int) -> str:
    """The id of a chunk (a UUID string), the same each time the same version is ingested."""
    return str(uuid5(NAMESPACE, f"{version_id}/{ordinal}"))
