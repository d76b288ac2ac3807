"""Text from OpenAI and the servers that follow its API: Scaleway, vLLM, Ollama ..."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Literal, TypeVar

import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

from retrieval.models import errors, structured
from retrieval.models.batching import clean
from retrieval.models.errors import BadAnswer, decoding
from retrieval.models.openai_client import OpenAIConnection, explain, is_official
from retrieval.models.openai_dialect import Dialect
from retrieval.models.protocol import Completion, ModelError, Prompt, Usage
from retrieval.models.retry import Failure, RetryPolicy
from retrieval.models.spec import Spec
from retrieval.models.think_block import ThinkBlock, without_thinking

T = TypeVar("T", bound=BaseModel)
Effort = Literal["low", "medium", "high"]

#: Models that think first; the thinking counts towards the token limit, so they get room for it.
_THINKS = re.compile(r"(^|/)(o\d|gpt-5|gpt-oss|qwen3|qwq|deepseek-r|magistral)")
_TAKES_EFFORT = re.compile(r"(^|/)(o\d|gpt-5|gpt-oss)")
_ROOM: dict[Effort, int] = {"low": 2048, "medium": 8192, "high": 16_384}


class OpenAICompatibleText:
    """A `TextModel`. The connection is shared between roles and closed by the last `aclose`."""

    def __init__(
        self,
        spec: Spec,
        connection: OpenAIConnection,
        *,
        policy: RetryPolicy | None = None,
        effort: Effort = "low",
    ) -> None:
        self.spec = spec
        self._connection = connection.share()
        self._chat = connection.client.chat.completions
        self._policy = policy or RetryPolicy()
        self._effort: Effort = effort
        self._dialect = Dialect(official=is_official(connection))

    @property
    def name(self) -> str:
        return str(self.spec)

    async def complete(self, prompt: Prompt, *, max_tokens: int = 1024) -> Completion:
        return await self._generate(prompt, max_tokens, None)

    async def structured(
        self, prompt: Prompt, schema: type[T], *, max_tokens: int = 1024
    ) -> tuple[T, Usage]:
        async def generate(asked: Prompt) -> Completion:
            return await self._generate(asked, max_tokens, schema)

        return await structured.structured(generate, prompt, schema, spec=self.spec)

    async def stream(self, prompt: Prompt, *, max_tokens: int = 2048) -> AsyncGenerator[str | Usage]:
        pieces = self._policy.stream(lambda: self._pieces(prompt, max_tokens), self._explain)
        async with self._connection.slots, aclosing(pieces):
            async for piece in pieces:
                yield piece

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _generate(
        self, prompt: Prompt, max_tokens: int, schema: type[BaseModel] | None
    ) -> Completion:
        async def attempt() -> Completion:
            answer = await self._send(prompt, max_tokens, schema)
            if not isinstance(answer, ChatCompletion) or not answer.choices:
                raise BadAnswer
            with decoding():  # the SDK doesn't check what it was sent
                choice = answer.choices[0]
                self._check(choice.finish_reason, choice.message.refusal)
                text = without_thinking(choice.message.content or "")
                usage = _usage(answer.usage)
            if not text and choice.finish_reason == "length":
                raise self._only_thought()
            return Completion(text, usage)

        async with self._connection.slots:
            return await self._policy.run(attempt, self._explain)

    async def _pieces(self, prompt: Prompt, max_tokens: int) -> AsyncGenerator[str | Usage]:
        usage, written, end = Usage(), False, None
        block = ThinkBlock()
        answer = await self._send(prompt, max_tokens, None, stream=True)
        if not isinstance(answer, openai.AsyncStream):
            raise BadAnswer
        async with answer:
            while True:
                with decoding():
                    chunk: ChatCompletionChunk | None = await anext(answer, None)
                    if chunk is None:
                        break
                    usage = _usage(chunk.usage) if chunk.usage else usage
                    text = ""
                    for choice in (chunk.choices or [])[:1]:
                        end = choice.finish_reason or end
                        self._check(choice.finish_reason, choice.delta.refusal)
                        text = block.feed(choice.delta.content or "")
                if text:
                    written = True
                    yield text
        if end is None:  # the connection closed before the model was done
            raise BadAnswer
        if text := block.end():
            yield text
        elif not written and end == "length":
            raise self._only_thought()
        yield usage

    async def _send(
        self, prompt: Prompt, max_tokens: int, schema: type[BaseModel] | None, *, stream: bool = False
    ) -> object:
        """One request, and once more for each optional parameter that the server turns out not to know."""
        while True:
            request = self._dialect.spoken(self._request(prompt, max_tokens, schema, stream=stream))
            try:
                with decoding():
                    return await self._chat.create(**request)
            except openai.APIStatusError as error:
                if not self._dialect.learn(error, request):
                    raise

    def _request(
        self, prompt: Prompt, max_tokens: int, schema: type[BaseModel] | None, *, stream: bool
    ) -> dict[str, Any]:
        name = self.spec.model.lower()
        system = prompt.system
        if schema and self._dialect.format != "json_schema":
            system = f"{system}\n\n{structured.instructions(schema)}".strip()
        messages = [{"role": "system", "content": clean(system)}] if system else []
        messages += [{"role": m.role, "content": clean(m.content)} for m in prompt.messages]
        room = _ROOM[self._effort] if _THINKS.search(name) else 0
        request: dict[str, Any] = {
            "model": self.spec.model,
            "messages": messages,
            self._dialect.limit: max_tokens + room,
        }
        if _TAKES_EFFORT.search(name):
            request["reasoning_effort"] = self._effort
        if stream:
            request |= {"stream": True, "stream_options": {"include_usage": True}}
        if schema and self._dialect.format != "none":
            request["response_format"] = self._format(schema)
        return request

    def _format(self, schema: type[BaseModel]) -> dict[str, Any]:
        if self._dialect.format == "json_object":
            return {"type": "json_object"}
        strict = openai.pydantic_function_tool(schema)["function"].get("parameters")
        described = {"name": schema.__name__, "schema": strict, "strict": True}
        return {"type": "json_schema", "json_schema": described}

    def _check(self, finish_reason: str | None, refusal: str | None) -> None:
        if refusal or finish_reason == "content_filter":
            raise errors.refused(self.spec, finish_reason or "")

    def _only_thought(self) -> ModelError:
        return errors.invalid_output(self.spec, f"{self.spec.label} used up its tokens before it wrote.")

    def _explain(self, error: Exception) -> Failure | None:
        return explain(self.spec, error)


def _usage(counted: CompletionUsage | None) -> Usage:
    if counted is None:
        return Usage()
    return Usage(input_tokens=counted.prompt_tokens or 0, output_tokens=counted.completion_tokens or 0)
