"""The model roles as Protocols. One module a provider implements them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from retrieval.index.protocol import Fingerprint

Vectors = NDArray[np.float32]
T = TypeVar("T", bound=BaseModel)

ErrorKind = Literal[
    "unavailable",  # network, 5xx, overloaded: retries are used up
    "timeout",
    "rate_limited",  # 429 after the bounded retries
    "refused",  # the provider's safety filter stopped it
    "invalid_output",  # no valid structured output after one repair
    "misconfigured",  # bad key, unknown model: trying again can't help
    "too_long",  # the prompt does not fit
]


class ModelError(Exception):
    """A model call that ended without a usable result. `str()` is safe to log: no text, no key.

    `retry_after` is how many seconds the provider asked to wait, where it did.
    """

    def __init__(
        self, kind: ErrorKind, message: str, *, model: str = "", retry_after: float | None = None
    ) -> None:
        self.kind: ErrorKind = kind
        self.model = model
        self.retry_after = retry_after
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class PromptMessage:
    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    system: str
    messages: Sequence[PromptMessage]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a provider counted. Output includes thinking; `searches` is what rerankers are billed by."""

    input_tokens: int = 0
    output_tokens: int = 0
    searches: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.searches + other.searches,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    text: str
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class TextModel(Protocol):
    """Serves the roles answering, rephrase and summary. Calls time out and retry by themselves."""

    @property
    def name(self) -> str:
        """`provider:model`, as configured."""
        ...

    async def complete(self, prompt: Prompt, *, max_tokens: int = 1024) -> Completion: ...

    async def structured(
        self, prompt: Prompt, schema: type[T], *, max_tokens: int = 1024
    ) -> tuple[T, Usage]:
        """A validated object, by the provider's structured output. `invalid_output` if it never is."""
        ...

    def stream(self, prompt: Prompt, *, max_tokens: int = 2048) -> AsyncIterator[str | Usage]:
        """Text deltas, then one `Usage`. A stream that breaks raises `ModelError`; it is retried
        only while no text has been yielded."""
        ...

    async def aclose(self) -> None: ...


class Embedder(Protocol):
    """Vectors are float32, L2-normalised, one row a text. Each model's own prefixes are inside."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> Fingerprint: ...

    async def embed_queries(self, texts: Sequence[str]) -> Vectors: ...

    async def embed_passages(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        """For bulk work: yields to queries between small batches. `urgent`: someone waits for these."""
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Ranked:
    """`index` into the passages given; `score` in 0..1, greater is better."""

    index: int
    score: float


@runtime_checkable
class Reranker(Protocol):
    @property
    def name(self) -> str: ...

    async def rerank(self, query: str, passages: Sequence[str], *, limit: int) -> list[Ranked]: ...

    async def aclose(self) -> None: ...
