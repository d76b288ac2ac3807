"""Text from Gemini models, through google-genai."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from google.genai import types
from pydantic import BaseModel

from retrieval.models import errors, structured
from retrieval.models.batching import clean
from retrieval.models.errors import BadAnswer, decoding
from retrieval.models.gemini_client import GeminiConnection, explain
from retrieval.models.gemini_thinking import Thinking, room, thinking_config
from retrieval.models.protocol import Completion, ModelError, Prompt, Usage
from retrieval.models.retry import Failure, RetryPolicy
from retrieval.models.spec import Spec

T = TypeVar("T", bound=BaseModel)

#: Reasons that are an end; every other one is a block (SAFETY, RECITATION, BLOCKLIST, SPII ...).
_ENDS = {types.FinishReason.STOP, types.FinishReason.MAX_TOKENS}
#: Reasons that say nothing about the content: the same request may succeed.
_ACCIDENTS = {
    types.FinishReason.FINISH_REASON_UNSPECIFIED,
    types.FinishReason.OTHER,
    types.FinishReason.MALFORMED_FUNCTION_CALL,
    types.FinishReason.UNEXPECTED_TOOL_CALL,
    types.FinishReason.MALFORMED_RESPONSE,
}


class GeminiText:
    """A `TextModel`. The connection is shared between roles and closed by the last `aclose`."""

    def __init__(
        self,
        spec: Spec,
        connection: GeminiConnection,
        *,
        policy: RetryPolicy | None = None,
        thinking: Thinking = "low",
    ) -> None:
        self.spec = spec
        self._connection = connection.share()
        self._models = connection.client.aio.models
        self._policy = policy or RetryPolicy()
        self._thinking: Thinking = thinking

    @property
    def name(self) -> str:
        return str(self.spec)

    async def complete(self, prompt: Prompt, *, max_tokens: int = 1024) -> Completion:
        return await self._generate(prompt, self._config(prompt, max_tokens))

    async def structured(
        self, prompt: Prompt, schema: type[T], *, max_tokens: int = 1024
    ) -> tuple[T, Usage]:
        async def generate(asked: Prompt) -> Completion:
            config = self._config(asked, max_tokens)
            config.response_mime_type = "application/json"
            config.response_json_schema = schema.model_json_schema()
            return await self._generate(asked, config)

        return await structured.structured(generate, prompt, schema, spec=self.spec)

    async def stream(self, prompt: Prompt, *, max_tokens: int = 2048) -> AsyncGenerator[str | Usage]:
        config = self._config(prompt, max_tokens)
        pieces = self._policy.stream(lambda: self._pieces(prompt, config), self._explain)
        async with self._connection.slots, aclosing(pieces):
            async for piece in pieces:
                yield piece

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _generate(self, prompt: Prompt, config: types.GenerateContentConfig) -> Completion:
        async def attempt() -> Completion:
            with decoding():
                answer = await self._models.generate_content(
                    model=self.spec.model, contents=_contents(prompt), config=config
                )
            text, reason = self._read(answer)
            if reason is None:
                raise BadAnswer
            if not text and reason is types.FinishReason.MAX_TOKENS:
                raise self._only_thought()
            return Completion(text, _usage(answer.usage_metadata))

        async with self._connection.slots:
            return await self._policy.run(attempt, self._explain)

    async def _pieces(
        self, prompt: Prompt, config: types.GenerateContentConfig
    ) -> AsyncGenerator[str | Usage]:
        usage, written, end = Usage(), False, None
        with decoding():
            answers = await self._models.generate_content_stream(
                model=self.spec.model, contents=_contents(prompt), config=config
            )
        while True:
            with decoding():
                answer = await anext(answers, None)
            if answer is None:
                break
            text, reason = self._read(answer)
            if answer.usage_metadata:
                usage = _usage(answer.usage_metadata)
            if text:
                written = True
                yield text
            end = reason or end
        if end is None:  # the connection closed before the model was done
            raise BadAnswer
        if not written and end is types.FinishReason.MAX_TOKENS:
            raise self._only_thought()
        yield usage

    def _read(self, answer: types.GenerateContentResponse) -> tuple[str, types.FinishReason | None]:
        """Text and finish reason of an answer or a piece of one. Raises for a block."""
        block = answer.prompt_feedback.block_reason if answer.prompt_feedback else None
        if block:
            raise errors.refused(self.spec, block.value)
        if not answer.candidates:
            return "", None
        candidate = answer.candidates[0]
        reason = candidate.finish_reason
        if reason in _ACCIDENTS:
            raise BadAnswer
        if reason and reason not in _ENDS:
            raise errors.refused(self.spec, reason.value)
        parts = (candidate.content.parts if candidate.content else None) or []
        return "".join(part.text for part in parts if part.text and not part.thought), reason

    def _config(self, prompt: Prompt, max_tokens: int) -> types.GenerateContentConfig:
        return types.GenerateContentConfig(
            system_instruction=clean(prompt.system) or None,
            max_output_tokens=max_tokens + room(self.spec.model, self._thinking),
            thinking_config=thinking_config(self.spec.model, self._thinking),
        )

    def _only_thought(self) -> ModelError:
        return errors.invalid_output(self.spec, f"{self.spec.label} used up its tokens before it wrote.")

    def _explain(self, error: Exception) -> Failure | None:
        return explain(self.spec, error)


def _contents(prompt: Prompt) -> list[types.ContentUnion]:
    return [
        types.Content(
            role="user" if message.role == "user" else "model",
            parts=[types.Part(text=clean(message.content))],
        )
        for message in prompt.messages
    ]


def _usage(counted: types.GenerateContentResponseUsageMetadata | None) -> Usage:
    if counted is None:
        return Usage()
    output = (counted.candidates_token_count or 0) + (counted.thoughts_token_count or 0)
    return Usage(input_tokens=counted.prompt_token_count or 0, output_tokens=output)
