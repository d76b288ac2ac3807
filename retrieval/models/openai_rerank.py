"""Rerankers behind `POST /rerank`, as Scaleway and vLLM serve it next to their OpenAI-style API."""

from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI

from retrieval.models.errors import decoding
from retrieval.models.openai_client import OpenAIConnection, explain
from retrieval.models.prefixes import facts
from retrieval.models.protocol import Usage
from retrieval.models.reranking import ConnectedReranker, RerankLimits
from retrieval.models.retry import Failure, RetryPolicy
from retrieval.models.spec import Spec


class OpenAICompatibleReranker(ConnectedReranker[AsyncOpenAI]):
    """A `Reranker`, for instance `scaleway:qwen3-embedding-8b`.

    An embedding model that serves as a reranker scores by the cosine of its vectors, so it gets
    its own instruction before the query; rerankers proper have none.
    """

    def __init__(
        self,
        spec: Spec,
        connection: OpenAIConnection,
        *,
        policy: RetryPolicy | None = None,
        limits: RerankLimits | None = None,
    ) -> None:
        super().__init__(spec, connection, policy=policy, limits=limits, prefixes=facts(spec.model))

    async def _request(
        self, query: str, passages: list[str], top: int
    ) -> tuple[list[tuple[int, float]], Usage]:
        body = {"model": self.spec.model, "query": query, "documents": passages, "top_n": top}
        with decoding():
            answer: Any = await self._connection.client.post("/rerank", cast_to=object, body=body)
            scores = [(int(one["index"]), float(one["relevance_score"])) for one in answer["results"]]
            tokens = int((answer.get("usage") or {}).get("total_tokens") or 0)
        return scores, Usage(input_tokens=tokens)

    def _explain(self, error: Exception) -> Failure | None:
        return explain(self.spec, error)
