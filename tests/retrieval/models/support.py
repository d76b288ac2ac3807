"""What the tests of the providers share: prompts, a policy that never sleeps, secrets to look for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from retrieval.models.protocol import ModelError, Prompt, PromptMessage, Usage
from retrieval.models.retry import RetryPolicy

SECRET = "the-merger-is-on-friday"
PROMPT = Prompt(
    "Answer from the sources.",
    [
        PromptMessage("user", "Hello"),
        PromptMessage("assistant", "Hello! What would you like to know?"),
        PromptMessage("user", f"{SECRET}: how often do I rotate keys?"),
    ],
)
ANSWER = "Every 90 days [1]. Größe: 5 µm — 九十天。"


class Rewrites(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1)
    alternatives: list[str] = Field(max_length=2)


@dataclass
class FakeTime:
    """A clock that moves only when something sleeps, and timeouts that end only when told."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list[float])
    _limits: list[tuple[asyncio.Timeout, float]] = field(
        default_factory=list[tuple[asyncio.Timeout, float]]
    )

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def limit(self, seconds: float) -> asyncio.Timeout:
        timeout = asyncio.timeout(None)
        self._limits.append((timeout, seconds))
        return timeout

    def expire(self) -> None:
        """Let the timeout that was entered last run out."""
        timeout, seconds = self._limits[-1]
        self.now += seconds
        timeout.reschedule(asyncio.get_running_loop().time() - 1)

    def policy(self, **changes: Any) -> RetryPolicy:
        """Pauses are the bounds of the jitter, so that they can be compared."""
        return RetryPolicy(
            sleep=self.sleep,
            clock=lambda: self.now,
            jitter=lambda bound: bound,
            limit=self.limit,
            **changes,
        )


async def collect(stream: AsyncIterator[str | Usage]) -> tuple[list[str], Usage | None, ModelError | None]:
    """Texts, usage and the error of a stream."""
    texts: list[str] = []
    usage = None
    try:
        async for piece in stream:
            if isinstance(piece, Usage):
                assert usage is None, "two usages"
                usage = piece
            else:
                assert piece
                assert usage is None, "text after the usage"
                texts.append(piece)
    except ModelError as error:
        return texts, usage, error
    return texts, usage, None


def assert_silent(error: BaseException, *secrets: str) -> None:
    """Neither the error nor what a traceback would print with it holds a secret."""
    seen: BaseException | None = error
    while seen is not None:
        for secret in (SECRET, *secrets):
            assert secret not in str(seen)
            assert secret not in repr(seen)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
