"""Embeddings from OpenAI and the servers that follow its API: Scaleway, vLLM, Ollama ..."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from openai.types import CreateEmbeddingResponse

from retrieval.models.embedding import BatchLimits, HostedEmbedder, Kind, rows
from retrieval.models.errors import BadAnswer, decoding
from retrieval.models.openai_client import OpenAIConnection, explain, is_official
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
        # base64 is smaller and faster to read, but only OpenAI is sure to know it; Scaleway's
        # documentation says it doesn't.
        self._encoding: Literal["base64", "float"] = "base64" if is_official(connection) else "float"

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _request(self, texts: Sequence[str], kind: Kind) -> tuple[Vectors, Usage]:  # noqa: ARG002
        with decoding():  # the SDK doesn't check what it was sent
            answer: CreateEmbeddingResponse = await self._embeddings.create(
                model=self.spec.model, input=list(texts), encoding_format=self._encoding
            )
            ordered = sorted(answer.data, key=lambda one: one.index)
            if [one.index for one in ordered] != list(range(len(texts))):
                raise BadAnswer
            vectors = rows([one.embedding for one in ordered])
            return vectors, Usage(input_tokens=answer.usage.prompt_tokens if answer.usage else 0)

    def _explain(self, error: Exception) -> Failure | None:
        return explain(self.spec, error)
