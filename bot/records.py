"""What is kept about a document and its versions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from adapters.forms import DocumentStage, ProgressItem
from retrieval.documents import EVERYONE, DocumentMeta, Frozen


def now() -> datetime:
    return datetime.now(UTC)


class Upload(Frozen):
    """A file on local disk that somebody hands over."""

    workspace: str
    knowledge_base: str
    path: Path
    name: str
    media_type: str = "application/octet-stream"
    labels: tuple[str, ...] = ()
    uploader: str | None = None
    audience: tuple[str, ...] = (EVERYONE,)
    source_url: str | None = None
    fields: dict[str, str] = Field(default_factory=dict[str, str])
    #: A document of that name exists already: not a new version of it, but one beside it.
    keep_both: bool = False
    #: When the document is deleted by itself; None: never.
    expires_at: datetime | None = None

    def same_options(self, meta: DocumentMeta) -> bool:
        """Whether a version with `meta` was uploaded with the same options."""
        return (
            set(self.labels) == set(meta.labels)
            and set(self.audience) == set(meta.audience)
            and self.source_url == meta.source_url
            and self.fields == meta.fields
        )


class Accepted(Frozen):
    """What is known when a version is accepted. Labels may change later; nothing else does."""

    meta: DocumentMeta
    #: Of the original, in hexadecimal.
    sha256: str
    #: Bytes of the original.
    size: int
    #: Asked for with "parse again with ..."; None: the usual one for the kind of file.
    parser: str | None = None


class Status(Frozen):
    """Where a version is. `done` of `total` counts the units of the stage."""

    stage: DocumentStage = "queued"
    done: int = 0
    total: int = 0
    #: For `failed`: a word for programs, such as "encrypted"; see `bot.failures`.
    reason: str = ""
    #: One sentence for the person.
    message: str = ""
    changed_at: datetime = Field(default_factory=now)

    @property
    def finished(self) -> bool:
        return self.stage in ("done", "failed", "cancelled")


class Outcome(Frozen):
    """What ingest made of a version. Once it is stored, the version will be published."""

    title: str
    #: "parser-name/version"
    parser: str
    chunks: int
    pages: int | None = None
    languages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    document_date: datetime | None = None
    #: Seconds by stage.
    timings: dict[str, float] = Field(default_factory=dict[str, float])


class Version(Frozen):
    """One version of a document."""

    accepted: Accepted
    status: Status
    outcome: Outcome | None = None

    @property
    def meta(self) -> DocumentMeta:
        return self.accepted.meta

    @property
    def title(self) -> str:
        return self.outcome.title if self.outcome else self.meta.title

    def item(self, message: str | None = None) -> ProgressItem:
        return ProgressItem(
            document_id=self.meta.document_id,
            version_id=self.meta.version_id,
            name=self.meta.name,
            stage=self.status.stage,
            done=self.status.done,
            total=self.status.total,
            message=self.status.message if message is None else message,
        )


class Document(Frozen):
    """A document with the version that is searched, if any, and the newest one."""

    document_id: str
    workspace: str
    knowledge_base: str
    name: str
    current: Version | None
    latest: Version

    @property
    def shown(self) -> Version:
        """The version whose facts stand for the document: the one that is searched, else the newest."""
        return self.current or self.latest
