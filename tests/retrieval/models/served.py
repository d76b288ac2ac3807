"""Each provider of text with its double, so that one test holds for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

from retrieval.models import gemini_client, openai_client
from retrieval.models.gemini import GeminiText
from retrieval.models.openai_compatible import OpenAICompatibleText
from retrieval.models.protocol import ModelError, TextModel
from retrieval.models.spec import parse
from tests.doubles import gemini, openai_compatible
from tests.doubles.gemini import GeminiDouble
from tests.doubles.http import HttpDouble, Received
from tests.doubles.openai_compatible import OpenAICompatibleDouble
from tests.retrieval.models.support import PROMPT, FakeTime

Name = Literal["gemini", "openai"]
NAMES: tuple[Name, ...] = ("gemini", "openai")
SPECS = {"gemini": "gemini:gemini-2.5-flash", "openai": "openai:llama-3.3-70b-instruct"}
DOUBLES = {"gemini": GeminiDouble, "openai": OpenAICompatibleDouble}


@dataclass
class Served:
    """A running double and a model of its provider."""

    name: Name
    double: HttpDouble
    model: TextModel
    time: FakeTime

    def asked(self, received: Received) -> str:
        module = gemini if self.name == "gemini" else openai_compatible
        return module.prompt_text(received)

    async def failed(self) -> ModelError:
        """The error that a completion ends with."""
        try:
            answer = await self.model.complete(PROMPT)
        except ModelError as error:
            return error
        raise AssertionError(f"it answered: {answer.text}")

    async def timed_out(self, attempts: int) -> ModelError:
        """The error of a completion whose attempts all run out of time."""
        call = asyncio.ensure_future(self.failed())
        for attempt in range(attempts):
            await self.double.came(attempt + 1)
            self.time.expire()
        return await call


def text_model(name: Name, key: str, url: str, time: FakeTime, spec: str | None = None) -> TextModel:
    parsed, policy = parse(spec or SPECS[name]), time.policy()
    if name == "gemini":
        return GeminiText(parsed, gemini_client.connect(key, url), policy=policy, thinking="minimal")
    return OpenAICompatibleText(parsed, openai_client.connect(key, url), policy=policy)


@asynccontextmanager
async def serve(
    name: Name, *, spec: str | None = None, key: str | None = None, **options: Any
) -> AsyncGenerator[Served]:
    """`options` go to the double."""
    time = FakeTime()
    async with DOUBLES[name](**options) as double:
        model = text_model(name, key or double.key, double.url, time, spec)
        try:
            yield Served(name, double, model, time)
        finally:
            await model.aclose()
