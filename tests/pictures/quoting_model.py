"""A model over the OpenAI-compatible API that writes the sentences of a source, word by word: so that
what is shown while an answer is written can be seen, and says something."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web

_SOURCE: Final = re.compile(r'<source label="(\[\d+\])"[^>]*>\n(.*?)\n</source>', re.DOTALL)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_WORD: Final = re.compile(r"\w{3,}")
_USAGE: Final = {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960}


def quoted(prompt: str, *, sentences: int = 3) -> str:
    """Of the first source that is prose, each sentence with the source's label: from the one on that has
    most of the question's words."""
    asked = _WORD.findall(prompt.rpartition("Question:")[2].lower())
    for label, text in _SOURCE.findall(prompt):
        if "|" not in text and "```" not in text:
            all_said = _SENTENCE.split(" ".join(text.split()))
            shared = [sum(word in said.lower() for word in asked) for said in all_said]
            first = shared.index(max(shared))
            return " ".join(f"{said} {label}" for said in all_said[first : first + sentences])
    return "NOT_COVERED"


@dataclass
class QuotingModel:
    """`url` is its base address; `pause` are seconds before each word."""

    pause: float
    url: str = ""


@asynccontextmanager
async def quoting_model(pause: float) -> AsyncGenerator[QuotingModel]:
    model = QuotingModel(pause)

    async def complete(request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = await request.json()
        text = quoted(str(body["messages"][-1]["content"]))
        if not body.get("stream"):
            message = {"role": "assistant", "content": text}
            return web.json_response(
                {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": _USAGE}
            )
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for word in re.findall(r"\S+\s*", text):
            await asyncio.sleep(model.pause)
            await _send(response, {"content": word}, None)
        await _send(response, {}, "stop")
        await response.write(b"data: [DONE]\n\n")
        return response

    application = web.Application()
    application.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        model.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        yield model
    finally:
        await runner.cleanup()


async def _send(response: web.StreamResponse, delta: dict[str, str], finish: str | None) -> None:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "quoting"}
    if finish:
        chunk["usage"] = _USAGE
    await response.write(b"data: " + json.dumps({**chunk, "choices": [choice]}).encode() + b"\n\n")
