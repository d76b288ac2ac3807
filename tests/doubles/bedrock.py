"""A strict double of Amazon Bedrock's InvokeModel for Cohere's rerank."""

from __future__ import annotations

import re
from typing import Any, Literal
from urllib.parse import unquote

from aiohttp import web
from pydantic import Field

from tests.doubles.http import HttpDouble, Received, Refused, Strict
from tests.doubles.models import overlap

MODEL = "cohere.rerank-v3-5:0"


class RerankRequest(Strict):
    query: str = Field(min_length=1)
    documents: list[str] = Field(min_length=1, max_length=1000)
    top_n: int | None = Field(default=None, ge=1)
    api_version: Literal[2]


class BedrockDouble(HttpDouble):
    """Serves /model/cohere.rerank-v3-5:0/invoke for requests signed (SigV4) with `key_id`."""

    def __init__(self, key_id: str = "AKIATESTKEY") -> None:
        super().__init__()
        self.key_id = key_id

    async def handle(self, request: web.BaseRequest, received: Received) -> web.StreamResponse:
        if received.method != "POST" or unquote(received.path) != f"/model/{MODEL}/invoke":
            raise Refused(404, f"no such model: {received.path}", "ResourceNotFoundException")
        signed = received.headers.get("Authorization", "")
        scope = rf"AWS4-HMAC-SHA256 Credential={self.key_id}/\d{{8}}/[a-z0-9-]+/bedrock/aws4_request, "
        if not re.match(scope, signed):
            raise Refused(403, "The security token is invalid.", "UnrecognizedClientException")
        asked = self.validated(RerankRequest, received)
        answer = self.next_answer(received)
        if response := await self.plain(answer):
            return response
        scores = answer or [overlap(asked.query, document) for document in asked.documents]
        best = sorted(range(len(scores)), key=lambda i: -scores[i])[: asked.top_n]
        return web.json_response({"results": [{"index": i, "relevance_score": scores[i]} for i in best]})

    def error_body(self, status: int, message: str, code: str = "") -> Any:
        names = {400: "ValidationException", 429: "ThrottlingException", 503: "ServiceUnavailableException"}
        return {"message": message, "__type": code or names.get(status, "InternalServerException")}
