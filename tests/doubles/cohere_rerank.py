"""A strict double of Cohere's rerank API (v2)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from aiohttp import web
from pydantic import Field

from tests.doubles.http import HttpDouble, Received, Refused, Strict
from tests.doubles.models import overlap


class RerankRequest(Strict):
    model: str
    query: str = Field(min_length=1)
    documents: list[str] = Field(min_length=1, max_length=10_000)
    top_n: int | None = Field(default=None, ge=1)
    max_tokens_per_doc: int | None = Field(default=None, ge=1)


class CohereDouble(HttpDouble):
    """Serves /v2/rerank. Scripted answers are lists of scores, one a document, or those of `http`;
    by default a score is the share of the query's words that the document holds."""

    def __init__(
        self, key: str = "cohere-test-key", *, models: Collection[str] = ("rerank-v4.0-fast",)
    ) -> None:
        super().__init__()
        self.key = key
        self.models = models

    async def handle(self, request: web.BaseRequest, received: Received) -> web.StreamResponse:
        if (received.method, received.path) != ("POST", "/v2/rerank"):
            raise Refused(404, f"no such route: {received.method} {received.path}")
        if received.headers.get("Authorization") != f"Bearer {self.key}":
            raise Refused(401, f"invalid api token: {received.headers.get('Authorization')}")
        asked = self.validated(RerankRequest, received)
        if asked.model not in self.models:
            raise Refused(404, f"model '{asked.model}' not found")
        answer = self.next_answer(received)
        if response := await self.plain(answer):
            return response
        scores = answer or [overlap(asked.query, document) for document in asked.documents]
        assert len(scores) == len(asked.documents)
        best = sorted(range(len(scores)), key=lambda i: -scores[i])[: asked.top_n]
        units = -(-len(asked.documents) // 100)
        return web.json_response(
            {
                "id": "1",
                "results": [{"index": i, "relevance_score": scores[i]} for i in best],
                "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": units}},
            }
        )

    def error_body(self, status: int, message: str, code: str = "") -> Any:
        return {"id": "1", "message": message}
