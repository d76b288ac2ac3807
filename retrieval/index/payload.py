"""What is stored with a vector: the fields that filters use, and the chunk itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, cast

from retrieval.documents import Chunk, DocumentMeta

#: The workspace, while the version is published; absent while it is staged. One field, so that the
#: filter which every search needs is one look-up.
LIVE = "live"
WORKSPACE = "workspace"
AUDIENCE = "audience"
KNOWLEDGE_BASE = "knowledge_base"
LABELS = "labels"
DOCUMENT = "document"
#: `VersionKey.dump()`.
VERSION = "version"
UPLOADER = "uploader"
#: Microseconds since 1970.
UPLOADED = "uploaded"
LANGUAGE = "language"
KIND = "kind"
#: The chunk as JSON, but for its labels, which can change in place.
CHUNK = "chunk"

#: Fields with an index of strings. `UPLOADED` has one of integers; `KIND` needs none beside `DOCUMENT`.
KEYWORDS = (LIVE, WORKSPACE, AUDIENCE, KNOWLEDGE_BASE, LABELS, DOCUMENT, VERSION, UPLOADER, LANGUAGE)
#: What has to be read to fuse lists and to rebuild a chunk.
READ = (VERSION, LABELS, LANGUAGE, CHUNK)

Payload = Mapping[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class VersionKey(NamedTuple):
    """Names a document version among all that an index holds. The greater number is the newer."""

    workspace: str
    document_id: str
    number: int
    version_id: str

    @classmethod
    def of(cls, meta: DocumentMeta) -> VersionKey:
        return cls(meta.workspace, meta.document_id, meta.version, meta.version_id)

    @classmethod
    def parse(cls, text: str) -> VersionKey:
        return cls(*json.loads(text))

    def dump(self) -> str:
        return json.dumps(self, ensure_ascii=False, separators=(",", ":"))


def payload_of(chunk: Chunk, *, live: bool) -> dict[str, Any]:
    """The payload of a chunk, to be read back by `chunk_of`."""
    meta = chunk.meta
    fields: dict[str, Any] = {
        WORKSPACE: meta.workspace,
        AUDIENCE: list(meta.audience),
        KNOWLEDGE_BASE: meta.knowledge_base,
        LABELS: list(meta.labels),
        DOCUMENT: meta.document_id,
        VERSION: VersionKey.of(meta).dump(),
        UPLOADED: micros(meta.uploaded_at),
        LANGUAGE: chunk.language,
        KIND: chunk.kind,
        CHUNK: chunk.model_dump_json(exclude={"meta": {"labels"}}),
    }
    if meta.uploader is not None:
        fields[UPLOADER] = meta.uploader
    if live:
        fields[LIVE] = meta.workspace
    return fields


def chunk_of(payload: Payload) -> Chunk:
    """The chunk that a payload was made from, with the labels that it has now."""
    chunk = Chunk.model_validate_json(payload[CHUNK])
    if labels := cast("list[str]", payload.get(LABELS)):
        meta = chunk.meta.model_copy(update={"labels": tuple(labels)})
        chunk = chunk.model_copy(update={"meta": meta})
    return chunk


def micros(moment: datetime) -> int:
    """Microseconds since 1970; a moment without a time zone counts as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)
