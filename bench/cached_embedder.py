"""An embedder whose vectors are kept on disk, so that a benchmark pays for them once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from retrieval.index.protocol import Fingerprint
from retrieval.models.protocol import Embedder, Vectors


class CachedEmbedder:
    """Wraps an `Embedder`. `save` writes what is new to `folder`."""

    def __init__(self, inner: Embedder, folder: Path) -> None:
        self._inner = inner
        name = hashlib.sha256(repr(inner.fingerprint).encode()).hexdigest()[:12]
        self._file = folder / f"vectors-{name}.npz"
        self._vectors: dict[str, Vectors] = {}
        if self._file.exists():
            with np.load(self._file) as stored:
                self._vectors = dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))
        self._size = len(self._vectors)

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def fingerprint(self) -> Fingerprint:
        return self._inner.fingerprint

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, "query")

    async def embed_passages(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        return await self._embed(texts, "passage")

    async def aclose(self) -> None:
        await self._inner.aclose()

    def save(self) -> None:
        if len(self._vectors) > self._size:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(
                self._file,
                keys=np.array(list(self._vectors)),
                vectors=np.stack(list(self._vectors.values())),
            )
            self._size = len(self._vectors)

    async def _embed(self, texts: Sequence[str], role: str) -> Vectors:
        keys = [hashlib.sha256(f"{role}\0{text}".encode("utf-8", "replace")).hexdigest() for text in texts]
        wanted = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        if wanted:
            embed = self._inner.embed_queries if role == "query" else self._inner.embed_passages
            self._vectors |= dict(zip(wanted, await embed(list(wanted.values())), strict=True))
        return np.stack([self._vectors[key] for key in keys])
