"""Small documents, vectors and the two stores, for the tests of the index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from retrieval.documents import EVERYONE, Chunk, DocumentMeta, chunk_id
from retrieval.index.protocol import Fingerprint, QueryText, VectorIndex, Vectors
from retrieval.scope import Scope

DIMENSION = 16
MODEL = Fingerprint(model="test-model", dimension=DIMENSION, revision="1")
ALL = Scope(workspace="w", audience=frozenset({EVERYONE}))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def meta_of(document: str = "d", version: int = 1, **fields: Any) -> DocumentMeta:
    return DocumentMeta.model_validate(
        {
            "workspace": "w",
            "knowledge_base": "kb",
            "document_id": document,
            "version_id": f"{document}-v{version}",
            "version": version,
            "name": f"{document}.md",
            "title": f"About {document}",
            "media_type": "text/markdown",
            "uploaded_at": NOON,
            **fields,
        }
    )


def chunks_of(meta: DocumentMeta, texts: Iterable[str], language: str = "en", **fields: Any) -> list[Chunk]:
    return [
        Chunk(
            chunk_id=chunk_id(meta.version_id, ordinal),
            meta=meta,
            ordinal=ordinal,
            text=text,
            language=language,
            **fields,
        )
        for ordinal, text in enumerate(texts)
    ]


def vectors(count: int, seed: int = 0) -> Vectors:
    drawn = np.random.default_rng(seed).normal(size=(count, DIMENSION))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def asked(text: str, seed: int = 99) -> QueryText:
    return QueryText(text, vectors(1, seed)[0])


async def add(index: VectorIndex, chunks: Sequence[Chunk], seed: int = 0) -> None:
    """Stage and publish chunks of one version."""
    await index.stage(chunks, vectors(len(chunks), seed))
    meta = chunks[0].meta
    await index.publish(meta.workspace, meta.document_id, meta.version_id)


async def found(index: VectorIndex, text: str, scope: Scope = ALL, limit: int = 1000) -> list[str]:
    """Texts found by keyword."""
    hits = await index.search(scope, [asked(text)], limit=limit, mode="keyword", explain=False)
    return [hit.chunk.text for hit in hits]
