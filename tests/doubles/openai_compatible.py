"""A strict double of an OpenAI-compatible server: chat completions, embeddings, rerank."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from aiohttp import web
from pydantic import Field, ValidationError

from tests.doubles.http import Cut, ErrorInStream, HttpDouble, Received, Refused, Stall, Strict, pieces
from tests.doubles.models import HashEmbedder, overlap, words

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
EVERYTHING = frozenset(
    {"json_schema", "json_object", "stream_options", "reasoning_effort", "max_tokens", "base64"}
)


class Message(Strict):
    role: Literal["system", "user", "assistant"]
    content: str = Field(min_length=1)


class JsonSchema(Strict):
    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    schema_: dict[str, Any] = Field(alias="schema")
    strict: bool = False


class ResponseFormat(Strict):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class StreamOptions(Strict):
    include_usage: bool


class ChatRequest(Strict):
    model: str
    messages: list[Message] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = None
    response_format: ResponseFormat | None = None


class EmbeddingRequest(Strict):
    model: str
    input: list[str] = Field(min_length=1)
    encoding_format: Literal["float", "base64"] = "float"


class RerankRequest(Strict):
    model: str
    query: str = Field(min_length=1)
    documents: list[str] = Field(min_length=1)
    top_n: int | None = Field(default=None, ge=1)


@dataclass(frozen=True, slots=True)
class Finished:
    """A text with its finish reason; `refusal` as OpenAI's structured output gives it."""

    text: str
    reason: str = "stop"
    refusal: str | None = None


class OpenAICompatibleDouble(HttpDouble):
    """Serves /v1/chat/completions, /v1/embeddings and /v1/rerank.

    `knows` are the optional things that the server understands: leave some out to play an older
    one. `max_batch` (texts) and `max_batch_tokens` (words) bound one embedding request, `context`
    (words) one prompt or text. Script as in `GeminiDouble`; default answers are "OK", vectors of
    hashed words, and scores by shared words.
    """

    base_path = "/v1"

    def __init__(
        self,
        key: str = "sk-test-key",
        *,
        models: Collection[str] = ("gpt-5-mini", "llama-3.3-70b-instruct"),
        embedding_models: Mapping[str, int] | None = None,
        rerank_models: Collection[str] = ("qwen3-embedding-8b",),
        knows: Collection[str] = EVERYTHING,
        max_batch: int = 2048,
        max_batch_tokens: int = 300_000,
        context: int = 8192,
    ) -> None:
        super().__init__()
        self.key = key
        self.models = models
        self.embedding_models = embedding_models or {"bge-multilingual-gemma2": 3584}
        self.rerank_models = rerank_models
        self.knows = knows
        self.max_batch = max_batch
        self.max_batch_tokens = max_batch_tokens
        self.context = context

    async def handle(self, request: web.BaseRequest, received: Received) -> web.StreamResponse:
        given = received.headers.get("Authorization", "")
        if given != f"Bearer {self.key}":
            raise Refused(401, f"Incorrect API key provided: {given}.", "invalid_api_key")
        match received.method, received.path:
            case "POST", "/v1/chat/completions":
                return await self._chat(request, received)
            case "POST", "/v1/embeddings":
                return await self._embed(received)
            case "POST", "/v1/rerank":
                return await self._rerank(received)
            case method, path:
                raise Refused(404, f"no such route: {method} {path}")

    def error_body(self, status: int, message: str, code: str = "") -> Any:
        kind = TYPES.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": code or None}}

    async def _chat(self, request: web.BaseRequest, received: Received) -> web.StreamResponse:
        asked = self.validated(ChatRequest, received)
        self._model(asked.model, self.models)
        self._refuse_unknown(asked)
        self._fits([prompt_text(received)])
        answer = self.next_answer(received, "OK")
        if response := await self.plain(answer):
            return response
        read = len(words(prompt_text(received)))
        if not asked.stream:
            return web.json_response(_whole(answer, read, asked.model))
        then = answer if isinstance(answer, Cut | Stall | ErrorInStream) else None
        counted = read if asked.stream_options else None
        return await self.send_events(
            request, _chunks(answer, counted, asked.model), then=then, done="[DONE]"
        )

    async def _embed(self, received: Received) -> web.StreamResponse:
        asked = self.validated(EmbeddingRequest, received)
        self._model(asked.model, self.embedding_models)
        if asked.encoding_format not in ("float", *self.knows):
            raise Refused(400, "encoding_format is not supported")
        if any(not text.strip() for text in asked.input):
            raise Refused(400, "input cannot be an empty string")
        if len(asked.input) > self.max_batch:
            raise Refused(
                400, f"batch size {len(asked.input)} > maximum allowed batch size {self.max_batch}"
            )
        total = sum(len(words(text)) for text in asked.input)
        if total > self.max_batch_tokens:
            raise Refused(400, f"Requested {total} tokens, max {self.max_batch_tokens} tokens per request")
        self._fits(asked.input)
        answer = self.next_answer(received)
        if response := await self.plain(answer):
            return response
        embedder = HashEmbedder(self.embedding_models[asked.model])
        vectors = 3 * await embedder.embed_passages(asked.input)  # not normalised
        data: list[dict[str, Any]] = []
        for index, row in enumerate(vectors):
            packed = base64.b64encode(row.tobytes()).decode()
            shown = packed if asked.encoding_format == "base64" else row.tolist()
            data.append({"object": "embedding", "index": index, "embedding": shown})
        data.reverse()  # the order is not promised, the index is
        usage = {"prompt_tokens": total, "total_tokens": total}
        return web.json_response({"object": "list", "data": data, "model": asked.model, "usage": usage})

    async def _rerank(self, received: Received) -> web.StreamResponse:
        asked = self.validated(RerankRequest, received)
        self._model(asked.model, self.rerank_models)
        self._fits(asked.documents)
        answer = self.next_answer(received)
        if response := await self.plain(answer):
            return response
        scores = answer or [overlap(asked.query, document) for document in asked.documents]
        best = sorted(range(len(scores)), key=lambda i: -scores[i])[: asked.top_n]
        results = [
            {"index": i, "document": {"text": asked.documents[i]}, "relevance_score": scores[i]}
            for i in best
        ]
        total = sum(len(words(text)) for text in [asked.query, *asked.documents])
        usage = {"total_tokens": total}
        return web.json_response(
            {"id": "rerank-1", "model": asked.model, "usage": usage, "results": results}
        )

    def _model(self, name: str, known: Collection[str]) -> None:
        if name not in known:
            raise Refused(404, f"The model `{name}` does not exist", "model_not_found")

    def _fits(self, texts: list[str]) -> None:
        size = max(len(words(text)) for text in texts)
        if size > self.context:
            message = f"This model's maximum context length is {self.context} tokens, not {size}."
            raise Refused(400, message, "context_length_exceeded")

    def _refuse_unknown(self, asked: ChatRequest) -> None:
        used = {name for name in ("stream_options", "reasoning_effort") if getattr(asked, name)}
        if asked.response_format:
            used.add(asked.response_format.type)
            if asked.response_format.type == "json_schema" and not asked.response_format.json_schema:
                raise Refused(400, "response_format.json_schema is missing")
            text = " ".join(message.content for message in asked.messages)
            if asked.response_format.type == "json_object" and "json" not in text.lower():
                raise Refused(400, "'messages' must contain the word 'json' in some form")
        for name in ("max_tokens", "max_completion_tokens"):
            if getattr(asked, name) is not None:
                used.add(name)
        for name in sorted(used - set(self.knows)):
            shown = f"response_format.type: {name}" if name.startswith("json") else name
            raise Refused(400, f"Unsupported parameter: '{shown}'", "unsupported_parameter")


def prompt_text(received: Received) -> str:
    """All messages of a request, for scripts that answer by what was asked."""
    try:
        return "\n".join(message.content for message in ChatRequest.model_validate(received.json).messages)
    except ValidationError:
        return ""


def _usage(read: int, text: str) -> dict[str, int]:
    wrote = len(words(text))
    return {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}


def _finished(answer: Any) -> Finished:
    return answer if isinstance(answer, Finished) else Finished(answer)


def _whole(answer: Any, read: int, model: str) -> dict[str, Any]:
    end = _finished(answer)
    message = {"role": "assistant", "content": end.text, "refusal": end.refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": end.reason}],
        "usage": _usage(read, end.text),
    }


def _chunks(answer: Any, read: int | None, model: str) -> list[dict[str, Any]]:
    broken = isinstance(answer, Cut | Stall | ErrorInStream)
    end = Finished(answer.text) if broken else _finished(answer)

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _chunk(model, [choice])

    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"content": part}) for part in pieces(end.text)]
    if not broken:
        last = {"refusal": end.refusal} if end.refusal else {}
        chunks.append(chunk(last, end.reason))
        if read is not None:
            chunks.append(_chunk(model, []) | {"usage": _usage(read, end.text)})
    return chunks


def _chunk(model: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": model,
        "choices": choices,
    }
