"""What rerankers over the network share: what is sent, checks, scores in 0..1."""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from retrieval.models.batching import clean, clip
from retrieval.models.connection import Connection
from retrieval.models.errors import BadAnswer
from retrieval.models.meter import count
from retrieval.models.prefixes import EmbeddingFacts
from retrieval.models.protocol import Ranked, Usage
from retrieval.models.retry import Failure, RetryPolicy
from retrieval.models.spec import Spec

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class RerankLimits:
    """Longer texts are cut, passages beyond the number are left out (the pipeline sends the best first)."""

    passages: int = 1000
    passage_tokens: int = 4096
    query_tokens: int = 2048


class HostedReranker(ABC):
    """A `Reranker` behind an HTTP API."""

    def __init__(
        self,
        spec: Spec,
        policy: RetryPolicy | None = None,
        limits: RerankLimits | None = None,
        *,
        prefixes: EmbeddingFacts | None = None,
        concurrency: int = 8,
    ) -> None:
        self.spec = spec
        self._policy = policy or RetryPolicy()
        self._limits = limits or RerankLimits()
        self._prefixes = prefixes or EmbeddingFacts()
        self._slots = asyncio.Semaphore(concurrency)

    @property
    def name(self) -> str:
        return str(self.spec)

    async def rerank(self, query: str, passages: Sequence[str], *, limit: int) -> list[Ranked]:
        """The best `limit` passages, best first, equal scores in the given order."""
        sent = passages[: self._limits.passages]
        top = min(limit, len(sent))
        if top < 1:
            return []
        before, limits = self._prefixes, self._limits
        asked = before.query + _ready(query, limits.query_tokens)
        texts = [before.passage + _ready(text, limits.passage_tokens) for text in sent]

        async def attempt() -> tuple[list[Ranked], Usage]:
            scores, usage = await self._request(asked, texts, top)
            return _ranked(scores, len(texts)), usage

        async with self._slots:
            ranked, usage = await self._policy.run(attempt, self._explain)
        count(usage)
        return ranked[:top]

    @abstractmethod
    async def aclose(self) -> None: ...

    @abstractmethod
    async def _request(
        self, query: str, passages: list[str], top: int
    ) -> tuple[list[tuple[int, float]], Usage]:
        """One request: pairs of index and score, in any order, and what it used."""

    @abstractmethod
    def _explain(self, error: Exception) -> Failure | None: ...


class ConnectedReranker(HostedReranker, Generic[C]):
    """A `HostedReranker` that shares a provider's client with other models, and closes it with the last."""

    def __init__(
        self,
        spec: Spec,
        connection: Connection[C],
        *,
        policy: RetryPolicy | None = None,
        limits: RerankLimits | None = None,
        prefixes: EmbeddingFacts | None = None,
    ) -> None:
        super().__init__(spec, policy, limits, prefixes=prefixes)
        self._connection = connection.share()

    async def aclose(self) -> None:
        await self._connection.aclose()


def searches(passages: int) -> int:
    """What a call is billed as: one search for each 100 passages."""
    return math.ceil(passages / 100)


def _ready(text: str, tokens: int) -> str:
    return clip(clean(text).strip() or ".", tokens)


def _ranked(scores: list[tuple[int, float]], passages: int) -> list[Ranked]:
    indices = {index for index, _ in scores}
    if len(indices) != len(scores) or not indices or not indices <= set(range(passages)):
        raise BadAnswer
    if any(not math.isfinite(score) for _, score in scores):
        raise BadAnswer
    ranked = [Ranked(index, min(1.0, max(0.0, float(score)))) for index, score in scores]
    return sorted(ranked, key=lambda one: (-one.score, one.index))
