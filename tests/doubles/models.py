"""The model roles in memory: deterministic, no network, no weights."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from retrieval.index.protocol import Fingerprint
from retrieval.models.protocol import Completion, ModelError, Prompt, Ranked, Usage, Vectors

T = TypeVar("T", bound=BaseModel)
_WORD = re.compile(r"[぀-ヿ㐀-鿿가-힯฀-๿]|[^\W_]+")


@dataclass(frozen=True, slots=True)
class Broken:
    """An answer that stops after `text` with `error`. Not a stream: nothing but the error."""

    text: str
    error: Exception = field(default_factory=lambda: ModelError("unavailable", "The stream broke."))


Answer = str | BaseModel | Exception | Broken


@dataclass(frozen=True, slots=True)
class Call:
    kind: Literal["complete", "structured", "stream"]
    prompt: Prompt
    max_tokens: int
    schema: type[BaseModel] | None = None


class ScriptedTextModel:
    """Says what its script says and records every call in `calls`.

    `script` is one answer for all calls, a list of answers (one a call; a call too many is an
    AssertionError), or a function of the prompt. A string is the text (for `structured` it is
    JSON), a pydantic object is its JSON, an exception is raised. `wait` is awaited before an answer
    begins: an `asyncio.Event().wait`, or a sleep for a fixed latency.
    """

    def __init__(
        self,
        script: Answer | Sequence[Answer] | Callable[[Prompt], Answer] = "",
        *,
        name: str = "scripted:text",
        delta: int = 7,
        wait: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self.name = name
        self.calls: list[Call] = []
        self.closed = False
        self._script = script
        self._delta = delta
        self._wait = wait

    @property
    def prompts(self) -> list[Prompt]:
        return [call.prompt for call in self.calls]

    async def complete(self, prompt: Prompt, *, max_tokens: int = 1024) -> Completion:
        text = await self._text(Call("complete", prompt, max_tokens))
        return Completion(text, _usage(prompt, text))

    async def structured(
        self, prompt: Prompt, schema: type[T], *, max_tokens: int = 1024
    ) -> tuple[T, Usage]:
        text = await self._text(Call("structured", prompt, max_tokens, schema))
        try:
            return schema.model_validate_json(text), _usage(prompt, text)
        except ValidationError as error:
            raise ModelError("invalid_output", "The answer was not valid.", model=self.name) from error

    async def stream(self, prompt: Prompt, *, max_tokens: int = 2048) -> AsyncIterator[str | Usage]:
        answer = await self._answer(Call("stream", prompt, max_tokens))
        text = answer.text if isinstance(answer, Broken) else answer
        for start in range(0, len(text), self._delta):
            yield text[start : start + self._delta]
        if isinstance(answer, Broken):
            raise answer.error
        yield _usage(prompt, text)

    async def aclose(self) -> None:
        self.closed = True

    async def _text(self, call: Call) -> str:
        answer = await self._answer(call)
        if isinstance(answer, Broken):
            raise answer.error
        return answer

    async def _answer(self, call: Call) -> str | Broken:
        self.calls.append(call)
        if callable(self._script):
            answer = self._script(call.prompt)
        elif isinstance(self._script, Answer):
            answer = self._script
        else:
            assert len(self.calls) <= len(self._script), f"call {len(self.calls)} is not in the script"
            answer = self._script[len(self.calls) - 1]
        if self._wait:
            await self._wait()
        if isinstance(answer, Exception):
            raise answer
        return answer.model_dump_json() if isinstance(answer, BaseModel) else answer


class HashEmbedder:
    """A bag of hashed words: texts that share words are near each other. No weights, microseconds.

    Words are casefolded; Chinese, Japanese, Korean and Thai characters each count as a word.
    """

    def __init__(self, dimension: int = 64, *, name: str = "hash:words", revision: str = "1") -> None:
        self.name = name
        self.fingerprint = Fingerprint(model=name, dimension=dimension, revision=revision)
        self.queries: list[str] = []
        self.passages: list[str] = []
        self.closed = False

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.queries.extend(texts)
        return self._embed(texts)

    async def embed_passages(self, texts: Sequence[str], *, urgent: bool = False) -> Vectors:
        self.passages.extend(texts)
        return self._embed(texts)

    async def aclose(self) -> None:
        self.closed = True

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.fingerprint.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in words(text):
                row += self._direction(word)
            if not row.any():
                row[0] = 1.0
            row /= np.linalg.norm(row)
        return vectors

    def _direction(self, word: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())
        return np.random.default_rng(seed).standard_normal(self.fingerprint.dimension, dtype=np.float32)


class ScriptedReranker:
    """Scores by `score(query, passage)` in 0..1, by default the share of the query's words that the
    passage holds. `error` is raised instead where given. Queries are in `queries`."""

    def __init__(
        self,
        score: Callable[[str, str], float] | None = None,
        *,
        error: Exception | None = None,
        name: str = "scripted:rerank",
        wait: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self.name = name
        self.queries: list[str] = []
        self.closed = False
        self._score = score or overlap
        self._error = error
        self._wait = wait

    async def rerank(self, query: str, passages: Sequence[str], *, limit: int) -> list[Ranked]:
        self.queries.append(query)
        if self._wait:
            await self._wait()
        if self._error:
            raise self._error
        ranked = [Ranked(i, self._score(query, passage)) for i, passage in enumerate(passages)]
        return sorted(ranked, key=lambda r: (-r.score, r.index))[:limit]

    async def aclose(self) -> None:
        self.closed = True


def words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def overlap(query: str, passage: str) -> float:
    wanted = set(words(query))
    return len(wanted & set(words(passage))) / len(wanted) if wanted else 0.0


def _usage(prompt: Prompt, text: str) -> Usage:
    read = len(words(prompt.system)) + sum(len(words(m.content)) for m in prompt.messages)
    return Usage(input_tokens=read, output_tokens=len(words(text)))
