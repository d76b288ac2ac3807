"""Vectors that are paid for once: of a set's passages and questions, kept in a folder."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from retrieval.index.protocol import Fingerprint
from retrieval.models.meter import count, metered
from retrieval.models.protocol import Embedder, Usage, Vectors

Told = Callable[[str, int, int], None]
_BATCH = 256


class KnownQueries:
    """An `Embedder` that knows the vectors of some questions, and asks `inner` for all else."""

    def __init__(
        self, inner: Embedder, texts: Sequence[str], vectors: Vectors, usage: Mapping[str, Usage]
    ) -> None:
        """`usage`: what a provider counted for some of the texts; it is counted again whenever they are
        asked for."""
        self._inner = inner
        self._known = dict(zip(texts, vectors, strict=True))
        self._usage = usage

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def fingerprint(self) -> Fingerprint:
        return self._inner.fingerprint

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        for text in texts:
            count(self._usage.get(text, Usage()))
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= zip(new, await self._inner.embed_queries(new), strict=True)
        return np.stack([self._known[text] for text in texts])

    async def embed_passages(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        return await self._inner.embed_passages(texts, urgent=urgent)

    async def aclose(self) -> None:
        """The inner one belongs to whoever made it."""


async def time_query(embedder: Embedder, text: str) -> tuple[float, Usage]:
    """Milliseconds for the vector of one question, and what the provider counts."""
    with metered() as meter:
        began = time.perf_counter()
        await embedder.embed_queries([text])
        ms = (time.perf_counter() - began) * 1000
    return ms, meter.usage


async def passage_vectors(
    texts: Sequence[str], embedder: Embedder, cache: Path | None, told: Told
) -> Vectors:
    """Shape (len(texts), dimension), from `cache` where they are there."""
    return await _embedded(texts, embedder.embed_passages, "passages", embedder, cache, told)


async def query_vectors(
    texts: Sequence[str], embedder: Embedder, cache: Path | None, told: Told
) -> Vectors:
    """Shape (len(texts), dimension), from `cache` where they are there."""
    return await _embedded(texts, embedder.embed_queries, "queries", embedder, cache, told)


def cache_file(cache: Path, what: str, fingerprint: Fingerprint, texts: Sequence[str]) -> Path:
    """Named by what is embedded and with what, so that neither can be mistaken for another."""
    digest = hashlib.sha256(
        "\0".join([what, fingerprint.model_dump_json(), *texts]).encode("utf-8", "replace")
    )
    return cache / f"{digest.hexdigest()[:24]}.npy"


async def _embedded(
    texts: Sequence[str],
    embed: Callable[[Sequence[str]], Awaitable[Vectors]],
    what: str,
    embedder: Embedder,
    cache: Path | None,
    told: Told,
) -> Vectors:
    if not texts:
        return np.zeros((0, embedder.fingerprint.dimension), dtype=np.float32)
    path = cache_file(cache, what, embedder.fingerprint, texts) if cache is not None else None
    if path is not None and path.exists():
        return await asyncio.to_thread(np.load, path)
    parts: list[Vectors] = []
    for start in range(0, len(texts), _BATCH):
        parts.append(await embed(texts[start : start + _BATCH]))
        told(f"embedding {what}", min(start + _BATCH, len(texts)), len(texts))
    vectors = np.concatenate(parts)
    if path is not None:
        await asyncio.to_thread(_keep, path, vectors)
    return vectors


def _keep(path: Path, vectors: Vectors) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part.npy")
    np.save(temporary, vectors)
    temporary.replace(path)
