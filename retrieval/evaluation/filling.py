"""Puts a set's documents into an index of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from retrieval.documents import EVERYONE, Chunk, DocumentMeta, chunk_id
from retrieval.evaluation.dataset import Dataset, Document
from retrieval.evaluation.vectors import Told, passage_vectors
from retrieval.index.protocol import VectorIndex
from retrieval.ingest.language import LanguageTagger
from retrieval.models.protocol import Embedder
from retrieval.scope import Scope

WORKSPACE = "evaluation"
SCOPE = Scope(workspace=WORKSPACE, audience=frozenset({EVERYONE}))
_BATCH = 256


async def fill(
    data: Dataset,
    *,
    index: VectorIndex,
    embedder: Embedder,
    cache: Path | None,
    told: Told,
    left_out: frozenset[str] = frozenset(),
) -> None:
    """Fill a freshly opened, empty index, with one chunk a document named by the document's id.

    `left_out` are documents that are embedded (so that the cache serves every choice) but not stored.
    """
    chunks = chunks_of(data.name, data.corpus)
    vectors = await passage_vectors([chunk.context() for chunk in chunks], embedder, cache, told)
    places = [n for n, chunk in enumerate(chunks) if chunk.meta.name not in left_out]
    for start in range(0, len(places), _BATCH):
        some = places[start : start + _BATCH]
        await index.stage([chunks[n] for n in some], vectors[some])
        told("indexing", start + len(some), len(places))
    for n in places:
        await index.publish(WORKSPACE, chunks[n].meta.document_id, chunks[n].meta.version_id)
    await index.optimize()


def chunks_of(name: str, documents: Sequence[Document]) -> list[Chunk]:
    """In order, each in its language, or that of the whole set where its own can't be told."""
    now = datetime.now(UTC)
    texts = [f"{d.title}\n{d.text}" for d in documents]
    tagger = LanguageTagger(texts)
    return [
        Chunk(
            chunk_id=chunk_id(f"{name}/{number}", 0),
            meta=DocumentMeta(
                workspace=WORKSPACE,
                knowledge_base=name,
                document_id=str(number),
                version_id=str(number),
                version=1,
                name=document.id,
                title=document.title,
                media_type="text/plain",
                uploaded_at=now,
            ),
            ordinal=0,
            text=document.text,
            language=tagger.tag(text),
        )
        for number, (document, text) in enumerate(zip(documents, texts, strict=True))
    ]
