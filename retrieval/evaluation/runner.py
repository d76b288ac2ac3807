"""Runs an evaluation set through the index as it is searched in a turn, and measures what is found."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import numpy as np

from retrieval.documents import EVERYONE, Chunk, DocumentMeta, chunk_id
from retrieval.evaluation.dataset import Dataset
from retrieval.evaluation.metrics import ndcg, recall, reciprocal_rank
from retrieval.index.protocol import QueryText, SearchMode, VectorIndex, Vectors
from retrieval.ingest.language import LanguageTagger
from retrieval.models.protocol import Embedder
from retrieval.scope import Scope

MODES: tuple[SearchMode, ...] = ("keyword", "semantic", "hybrid")
_BATCH = 256
_WORKSPACE = "evaluation"
_SCOPE = Scope(workspace=_WORKSPACE, audience=frozenset({EVERYONE}))


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over the queries of a set, and each query's nDCG@10 for paired comparisons."""

    ndcg10: float
    recall10: float
    mrr10: float
    ms: float
    by_query: dict[str, float] = field(repr=False)


Told = Callable[[str, int, int], None]


async def run(
    data: Dataset,
    *,
    index: VectorIndex,
    embedder: Embedder,
    cache: Path | None = None,
    modes: Sequence[SearchMode] = MODES,
    told: Told = lambda _what, _done, _total: None,
) -> dict[SearchMode, Figures]:
    """Fill an empty index with the set and search each query in each mode.

    Args:
        index: freshly opened and empty; it is filled and left so.
        cache: folder for vectors, so that a second run embeds nothing.
        told: called with what is done, how much of it, and of how much.
    """
    ids = {document.id: str(number) for number, document in enumerate(data.corpus)}
    names = {version: name for name, version in ids.items()}
    chunks = _chunks(data, ids)
    texts = [chunk.context() for chunk in chunks]
    vectors = await _embedded(texts, embedder.embed_passages, "passages", embedder, cache, told)
    for start in range(0, len(chunks), _BATCH):
        await index.stage(chunks[start : start + _BATCH], vectors[start : start + _BATCH])
        told("indexing", min(start + _BATCH, len(chunks)), len(chunks))
    for chunk in chunks:
        await index.publish(_WORKSPACE, chunk.meta.document_id, chunk.meta.version_id)
    await index.optimize()
    queries = list(data.queries)
    query_vectors = await _embedded(
        [data.queries[q] for q in queries], embedder.embed_queries, "queries", embedder, cache, told
    )
    results: dict[SearchMode, Figures] = {}
    for mode in modes:
        rankings: dict[str, list[str]] = {}
        began = time.perf_counter()
        for number, (query, vector) in enumerate(zip(queries, query_vectors, strict=True), 1):
            text = QueryText(data.queries[query], vector)
            hits = await index.search(_SCOPE, [text], limit=10, mode=mode, explain=False)
            rankings[query] = [names[hit.chunk.meta.document_id] for hit in hits]
            if number % 50 == 0:
                told(mode, number, len(queries))
        ms = (time.perf_counter() - began) * 1000 / len(queries)
        results[mode] = _figures(data, rankings, ms)
    return results


def _figures(data: Dataset, rankings: dict[str, list[str]], ms: float) -> Figures:
    by_query = {q: ndcg(ranking, data.qrels[q]) for q, ranking in rankings.items()}
    return Figures(
        ndcg10=fmean(by_query.values()),
        recall10=fmean(recall(ranking, data.qrels[q]) for q, ranking in rankings.items()),
        mrr10=fmean(reciprocal_rank(ranking, data.qrels[q]) for q, ranking in rankings.items()),
        ms=ms,
        by_query=by_query,
    )


def _chunks(data: Dataset, ids: dict[str, str]) -> list[Chunk]:
    """One chunk a document, in the language of the whole set where its own can't be told."""
    now = datetime.now(UTC)
    texts = [f"{d.title}\n{d.text}" for d in data.corpus]
    tagger = LanguageTagger(texts)
    chunks: list[Chunk] = []
    for document, text in zip(data.corpus, texts, strict=True):
        version = ids[document.id]
        meta = DocumentMeta(
            workspace=_WORKSPACE,
            knowledge_base=data.name,
            document_id=version,
            version_id=version,
            version=1,
            name=document.id,
            title=document.title,
            media_type="text/plain",
            uploaded_at=now,
        )
        chunks.append(
            Chunk(
                chunk_id=chunk_id(f"{data.name}/{version}", 0),
                meta=meta,
                ordinal=0,
                text=document.text,
                language=tagger.tag(text),
            )
        )
    return chunks


async def _embedded(
    texts: list[str],
    embed: Callable[[Sequence[str]], Awaitable[Vectors]],
    what: str,
    embedder: Embedder,
    cache: Path | None,
    told: Told,
) -> Vectors:
    """Vectors of the texts, shape (len(texts), dimension), from the cache where they are there."""
    path: Path | None = None
    if cache is not None:
        digest = hashlib.sha256("\0".join([what, embedder.fingerprint.model_dump_json(), *texts]).encode())
        path = cache / f"{digest.hexdigest()[:24]}.npy"
        if path.exists():
            return np.load(path)
    parts: list[Vectors] = []
    for start in range(0, len(texts), _BATCH):
        parts.append(await embed(texts[start : start + _BATCH]))
        told(f"embedding {what}", min(start + _BATCH, len(texts)), len(texts))
    vectors = np.concatenate(parts)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".part.npy")
        np.save(temporary, vectors)
        temporary.replace(path)
    return vectors
