"""A strict double of the Gemini API (generativelanguage v1beta)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from aiohttp import web
from pydantic import Field

from tests.doubles.http import Cut, ErrorInStream, HttpDouble, Received, Refused, Stall, Strict, pieces
from tests.doubles.models import HashEmbedder, words

STATUS = {
    400: "INVALID_ARGUMENT",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class Part(Strict):
    text: str = Field(min_length=1)


class Content(Strict):
    role: Literal["user", "model"] = "user"
    parts: list[Part] = Field(min_length=1)


class Instruction(Strict):
    role: Literal["user", "system"] | None = None
    parts: list[Part] = Field(min_length=1)


class ThinkingConfig(Strict):
    """In snake case, which the API takes too and the SDK sends for this one."""

    thinking_budget: int | None = Field(default=None, ge=-1, le=32768)
    thinking_level: Literal["MINIMAL", "LOW", "MEDIUM", "HIGH"] | None = None
    include_thoughts: bool = False


class GenerationConfig(Strict):
    maxOutputTokens: int | None = Field(default=None, ge=1, le=65_536)
    temperature: float | None = Field(default=None, ge=0, le=2)
    responseMimeType: Literal["text/plain", "application/json"] = "text/plain"
    responseJsonSchema: dict[str, Any] | None = None
    thinkingConfig: ThinkingConfig | None = None


class GenerateRequest(Strict):
    contents: list[Content] = Field(min_length=1)
    systemInstruction: Instruction | None = None
    generationConfig: GenerationConfig = Field(default_factory=GenerationConfig)


class EmbedRequest(Strict):
    model: str
    content: Content
    taskType: Literal["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"]
    outputDimensionality: int = Field(ge=128, le=3072)


class BatchEmbedRequest(Strict):
    requests: list[EmbedRequest] = Field(min_length=1, max_length=100)


@dataclass(frozen=True, slots=True)
class Blocked:
    """A safety block: of the prompt, or of the candidate after it wrote `text`."""

    where: Literal["prompt", "candidate"]
    reason: str = "SAFETY"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """A text with its finish reason and the tokens spent on thinking."""

    text: str
    reason: str = "STOP"
    thoughts: int = 0


class GeminiDouble(HttpDouble):
    """Serves generateContent, streamGenerateContent and batchEmbedContents.

    Script: a string is the model's text; also `Finished`, `Blocked`, and those of `http`
    (`Fail`, `Raw`, `Hang`, `Cut`, `Stall`, `ErrorInStream`). By what was asked:
    `double.always(lambda received: "Every 90 days [1]." if "key" in prompt_text(received) else "?")`.
    """

    def __init__(
        self,
        key: str = "gemini-test-key",
        *,
        models: tuple[str, ...] = ("gemini-3-flash-preview", "gemini-2.5-flash"),
        embedding_models: tuple[str, ...] = ("gemini-embedding-001",),
        input_tokens: int = 1_000_000,
    ) -> None:
        super().__init__()
        self.key = key
        self.models = models
        self.embedding_models = embedding_models
        self.input_tokens = input_tokens

    async def handle(self, request: web.BaseRequest, received: Received) -> web.StreamResponse:
        self._authorise(received)
        model, _, method = received.path.removeprefix("/v1beta/models/").partition(":")
        serve: Callable[..., Any] | None = {
            "generateContent": self._generate,
            "streamGenerateContent": self._generate,
            "batchEmbedContents": self._embed,
        }.get(method)
        if received.method != "POST" or not received.path.startswith("/v1beta/models/") or serve is None:
            raise Refused(404, f"no such method: {received.method} {received.path}")
        if model not in (self.embedding_models if method.startswith("batch") else self.models):
            raise Refused(404, f"models/{model} is not found for API version v1beta")
        return await serve(request, received, model)

    def error_body(self, status: int, message: str, code: str = "") -> Any:
        name = STATUS.get(status, "UNKNOWN")
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": code}] if code else []
        return {"error": {"code": status, "message": message, "status": name, "details": details}}

    async def _generate(
        self, request: web.BaseRequest, received: Received, model: str
    ) -> web.StreamResponse:
        asked = self.validated(GenerateRequest, received)
        self._check(asked, model)
        answer = self.next_answer(received, "OK")
        if response := await self.plain(answer):
            return response
        read = len(words(prompt_text(received)))
        streaming = received.path.endswith(":streamGenerateContent")
        if streaming and received.query.get("alt") != "sse":
            raise Refused(400, "alt=sse is expected")
        if not streaming:
            assert not isinstance(answer, Cut | Stall | ErrorInStream), "an answer for streams only"
            return web.json_response(_events(answer, read, model, whole=True)[0])
        then = answer if isinstance(answer, Cut | Stall | ErrorInStream) else None
        return await self.send_events(request, _events(answer, read, model, whole=False), then=then)

    async def _embed(self, _: web.BaseRequest, received: Received, model: str) -> web.StreamResponse:
        asked = self.validated(BatchEmbedRequest, received).requests
        if any(one.model != f"models/{model}" for one in asked):
            raise Refused(400, "requests[].model differs from the model of the path")
        answer = self.next_answer(received)
        if response := await self.plain(answer):
            return response
        embedder = HashEmbedder(asked[0].outputDimensionality)
        vectors = await embedder.embed_passages([one.content.parts[0].text for one in asked])
        # Shorter vectors than the full ones come unnormalised from the API.
        return web.json_response({"embeddings": [{"values": (3 * row).tolist()} for row in vectors]})

    def _authorise(self, received: Received) -> None:
        if "key" in received.query:
            raise Refused(400, "the key belongs in the header x-goog-api-key")
        given = received.headers.get("x-goog-api-key")
        if given is None:
            raise Refused(403, "Method doesn't allow unregistered callers.")
        if given != self.key:
            message = f"API key not valid: {given}. Please pass a valid API key."
            raise Refused(400, message, "API_KEY_INVALID")

    def _check(self, asked: GenerateRequest, model: str) -> None:
        config = asked.generationConfig
        if asked.contents[-1].role != "user":
            raise Refused(400, "the last content must be the user's")
        if config.responseJsonSchema and config.responseMimeType != "application/json":
            raise Refused(400, "responseJsonSchema needs responseMimeType application/json")
        thinking = config.thinkingConfig or ThinkingConfig()
        if thinking.thinking_level and model.startswith("gemini-2"):
            raise Refused(400, "Thinking level is not supported for this model.")
        if thinking.thinking_level and thinking.thinking_budget is not None:
            raise Refused(400, "thinkingLevel and thinkingBudget can't be used together")
        size = sum(len(words(part.text)) for content in asked.contents for part in content.parts)
        if size > self.input_tokens:
            raise Refused(
                400,
                f"The input token count ({size}) exceeds the maximum number of tokens allowed "
                f"({self.input_tokens}).",
            )


def prompt_text(received: Received) -> str:
    """System instruction and all messages of a request, for scripts that answer by what was asked."""
    body = received.json
    contents = [body.get("systemInstruction"), *body["contents"]]
    return "\n".join(part["text"] for content in contents if content for part in content["parts"])


def _events(answer: Any, read: int, model: str, *, whole: bool) -> list[dict[str, Any]]:
    if isinstance(answer, Blocked) and answer.where == "prompt":
        return [{"promptFeedback": {"blockReason": answer.reason}, "modelVersion": model}]
    reason = getattr(answer, "reason", "STOP")
    text = answer if isinstance(answer, str) else answer.text
    unfinished = isinstance(answer, Cut | Stall | ErrorInStream)
    parts = [text] if whole else pieces(text) or [""]
    events: list[dict[str, Any]] = []
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        content = {"role": "model", "parts": [{"text": part}] if part else []}
        candidate: dict[str, Any] = {"content": content, "index": 0}
        usage: dict[str, Any] = {"promptTokenCount": read, "totalTokenCount": read}
        if last and not unfinished:
            candidate["finishReason"] = reason
            usage["candidatesTokenCount"] = len(words(text))
            if thoughts := getattr(answer, "thoughts", 0):
                usage["thoughtsTokenCount"] = thoughts
        events.append({"candidates": [candidate], "usageMetadata": usage, "modelVersion": model})
    return events
