"""Embeddings from Gemini models, through google-genai."""

from __future__ import annotations

from collections.abc import Sequence

from google.genai import types

from retrieval.models.batching import estimate
from retrieval.models.embedding import BatchLimits, HostedEmbedder, Kind, rows
from retrieval.models.errors import BadAnswer, decoding
from retrieval.models.gemini_client import GeminiConnection, explain
from retrieval.models.prefixes import EmbeddingFacts
from retrieval.models.protocol import Usage, Vectors
from retrieval.models.retry import Failure, RetryPolicy
from retrieval.models.spec import Spec

#: The API takes 100 texts of 2,048 tokens each; half of that, because the SDK reads an answer on the
#: event loop (0.7 ms a vector).
_LIMITS = BatchLimits(texts=50, tokens=20_000, concurrency=4)
#: The smallest that Google recommends (768, 1536, 3072): the index is a quarter of the full size.
DIMENSION = 768


class GeminiEmbedder(HostedEmbedder):
    """An `Embedder`. Queries and passages are told apart by the API's task type, not by a prefix."""

    def __init__(
        self,
        spec: Spec,
        connection: GeminiConnection,
        *,
        policy: RetryPolicy | None = None,
        bulk_policy: RetryPolicy | None = None,
        limits: BatchLimits = _LIMITS,
        dimension: int = DIMENSION,
    ) -> None:
        facts = EmbeddingFacts(dimension=dimension, max_tokens=2048)
        policy = policy or RetryPolicy()
        super().__init__(spec, facts, policy, bulk_policy or policy, limits)
        self._connection = connection.share()
        self._models = connection.client.aio.models

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _request(self, texts: Sequence[str], kind: Kind) -> tuple[Vectors, Usage]:
        # One Content a text: newer models take plain strings for parts of a single text.
        contents: list[types.ContentUnion] = [types.Content(parts=[types.Part(text=t)]) for t in texts]
        config = types.EmbedContentConfig(
            task_type="RETRIEVAL_QUERY" if kind == "query" else "RETRIEVAL_DOCUMENT",
            output_dimensionality=self.facts.dimension,
        )
        with decoding():
            answer = await self._models.embed_content(
                model=self.spec.model, contents=contents, config=config
            )
        if not answer.embeddings or len(answer.embeddings) != len(texts):
            raise BadAnswer
        vectors = rows([embedding.values or [] for embedding in answer.embeddings])
        # The API doesn't count embedded tokens.
        return vectors, Usage(input_tokens=sum(estimate(text) for text in texts))

    def _explain(self, error: Exception) -> Failure | None:
        return explain(self.spec, error)
