"""Embeddings from OpenAI and the servers that follow its API: Scaleway, vLLM, Ollama ..."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Literal

import numpy as np
import openai
from pydantic_core import from_json

from retrieval.models.embedding import BatchLimits, HostedEmbedder, Kind, rows
from retrieval.models.errors import BadAnswer, decoding
from retrieval.models.openai_client import OpenAIConnection, explain, said
from retrieval.models.prefixes import EmbeddingFacts, facts
from retrieval.models.protocol import Usage, Vectors
from retrieval.models.retry import Failure, RetryPolicy
from retrieval.models.spec import Spec


class OpenAICompatibleEmbedder(HostedEmbedder):
    """An `Embedder`. What the model wants before a text comes from `prefixes`, by its name."""

    def __init__(
        self,
        spec: Spec,
        connection: OpenAIConnection,
        *,
        policy: RetryPolicy | None = None,
        bulk_policy: RetryPolicy | None = None,
        limits: BatchLimits | None = None,
        known: EmbeddingFacts | None = None,
    ) -> None:
        policy = policy or RetryPolicy()
        super().__init__(
            spec, known or facts(spec.model), policy, bulk_policy or policy, limits or BatchLimits()
        )
        self._connection = connection.share()
        self._embeddings = connection.client.embeddings
        # A fifth of the size and much faster to read. Servers that don't know it refuse it, or send
        # lists of numbers all the same.
        self._encoding: Literal["base64", "float"] = "base64"

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _request(self, texts: Sequence[str], kind: Kind) -> tuple[Vectors, Usage]:  # noqa: ARG002
        body = await self._send(list(texts))
        with decoding():
            answer = from_json(body)
            ordered = sorted(answer["data"], key=lambda one: one["index"])
            if [one["index"] for one in ordered] != list(range(len(texts))):
                raise BadAnswer
            vectors = rows([_numbers(one["embedding"]) for one in ordered])
            tokens = int((answer.get("usage") or {}).get("prompt_tokens") or 0)
        return vectors, Usage(input_tokens=tokens)

    async def _send(self, texts: list[str]) -> bytes:
        """The answer as it came: the SDK's own reading takes 10 ms of the event loop a vector."""
        while True:
            encoding = self._encoding
            try:
                raw = await self._embeddings.with_raw_response.create(
                    model=self.spec.model, input=texts, encoding_format=encoding
                )
            except openai.APIStatusError as error:
                if encoding == "float" or error.status_code not in (400, 422):
                    raise
                if "encoding_format" not in said(error):
                    raise
                self._encoding = "float"
            else:
                return raw.content

    def _explain(self, error: Exception) -> Failure | None:
        return explain(self.spec, error)


def _numbers(embedding: str | list[float]) -> Vectors | list[float]:
    """A vector out of base64 of little-endian float32, or a list as it is."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), dtype="<f4")
    return embedding
