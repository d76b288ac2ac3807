"""What embedders over the network share: prefixes, batches, splitting, checks, normalisation."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from retrieval.index.protocol import Fingerprint
from retrieval.models import errors
from retrieval.models.batching import batches, clean, clip
from retrieval.models.errors import BadAnswer
from retrieval.models.meter import count
from retrieval.models.prefixes import EmbeddingFacts
from retrieval.models.protocol import Embedder, ModelError, Usage, Vectors
from retrieval.models.retry import Failure, RetryPolicy
from retrieval.models.spec import Spec

Kind = Literal["query", "passage"]
Pace = Literal["urgent", "bulk"]
R = TypeVar("R")


class DimensionUnknown(Exception):
    """The dimension of this model is learned from its first vector; see `fingerprint_of`."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much goes into one request, and how many requests of bulk work are on their way at once."""

    texts: int = 32
    tokens: int = 16_000
    concurrency: int = 4


class HostedEmbedder(ABC):
    """An `Embedder` behind an HTTP API. Queries never wait for the bulk work of passages."""

    def __init__(
        self,
        spec: Spec,
        facts: EmbeddingFacts,
        policy: RetryPolicy,
        bulk_policy: RetryPolicy,
        limits: BatchLimits,
    ) -> None:
        """`policy` is for what someone waits for; `bulk_policy` for passages in bulk."""
        self.spec = spec
        self.facts = facts
        self._policies: dict[Pace, RetryPolicy] = {"urgent": policy, "bulk": bulk_policy}
        self._limits = limits
        self._dimension = facts.dimension
        self._slots: dict[Pace, asyncio.Semaphore] = {
            "urgent": asyncio.Semaphore(16),
            "bulk": asyncio.Semaphore(limits.concurrency),
        }

    @property
    def name(self) -> str:
        return str(self.spec)

    @property
    def fingerprint(self) -> Fingerprint:
        if self._dimension is None:
            raise DimensionUnknown(self.name)
        return Fingerprint(model=self.name, dimension=self._dimension, revision=self.facts.revision)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, "query", "urgent")

    async def embed_passages(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        return await self._embed(texts, "passage", "urgent" if urgent else "bulk")

    @abstractmethod
    async def aclose(self) -> None: ...

    @abstractmethod
    async def _request(self, texts: Sequence[str], kind: Kind) -> tuple[Vectors, Usage]:
        """One request: raw vectors, one row a text, in the order of the texts."""

    @abstractmethod
    def _explain(self, error: Exception) -> Failure | None: ...

    async def _embed(self, texts: Sequence[str], kind: Kind, pace: Pace) -> Vectors:
        if not texts:
            return np.zeros((0, self._dimension or 0), dtype=np.float32)
        prefix = self.facts.query if kind == "query" else self.facts.passage
        room = self.facts.max_tokens
        ready = [clip(prefix + (clean(text).strip() or "."), room) for text in texts]
        parts = batches(ready, count=self._limits.texts, tokens=self._limits.tokens)
        return np.concatenate(await _all([self._batch(part, kind, pace) for part in parts]))

    async def _batch(self, texts: list[str], kind: Kind, pace: Pace) -> Vectors:
        """One batch, halved as often as the server finds it too large."""
        try:
            async with self._slots[pace]:
                request = partial(self._request, texts, kind)
                raw, usage = await self._policies[pace].run(request, self._explain)
        except ModelError as error:
            if error.kind != "too_long" or (len(texts) == 1 and len(texts[0]) < 200):
                raise
        else:
            count(usage)
            return self._checked(raw, len(texts))
        # The estimate of tokens was too low, or the server's limit is below the known one.
        if len(texts) == 1:
            return await self._batch([texts[0][: len(texts[0]) // 2]], kind, pace)
        middle = len(texts) // 2
        halves = [await self._batch(half, kind, pace) for half in (texts[:middle], texts[middle:])]
        return np.concatenate(halves)

    def _checked(self, raw: Vectors, rows: int) -> Vectors:
        """L2-normalised, or `ModelError` for what must not reach an index."""
        lengths = np.linalg.norm(raw, axis=1, keepdims=True) if raw.ndim == 2 else np.zeros(0)
        if raw.shape[0] != rows or raw.ndim != 2 or not np.isfinite(lengths).all() or not lengths.all():
            raise errors.bad_answer(self.spec).error
        self._dimension = self._dimension or raw.shape[1]
        if raw.shape[1] != self._dimension:
            raise ModelError(
                "misconfigured",
                f"{self.name} gave vectors of {raw.shape[1]} dimensions instead of {self._dimension}. "
                "Is another model served under this name?",
                model=self.name,
            )
        return (raw / lengths).astype(np.float32, copy=False)


def rows(vectors: Sequence[Vectors | Sequence[float]]) -> Vectors:
    """Vectors as float32 rows. Raises `BadAnswer` for a ragged or empty answer."""
    try:
        array = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError):
        array = np.zeros(0, dtype=np.float32)
    if array.ndim != 2:
        raise BadAnswer
    return array


async def fingerprint_of(embedder: Embedder) -> Fingerprint:
    """The fingerprint, after one tiny call where the dimension has to be learned."""
    try:
        return embedder.fingerprint
    except DimensionUnknown:
        await embedder.embed_queries(["How many dimensions?"])
    return embedder.fingerprint


async def _all(work: Sequence[Coroutine[Any, Any, R]]) -> list[R]:
    """Results in order; the first failure cancels the rest and is raised as it is."""
    failure: BaseException
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
        return [task.result() for task in tasks]
    except BaseExceptionGroup as failures:
        failure = failures.exceptions[0]
    raise failure
