"""A model over the OpenAI-compatible API that writes the sentences of a source, word by word: so that
what is shown while an answer is written can be seen, and says something."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web

_SOURCE: Final = re.compile(r'<source label="(\[\d+\])"[^>]*>\n(.*?)\n</source>', re.DOTALL)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_USAGE: Final = {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960}


def quoted(prompt: str, *, sentences: int = 3) -> str:
    """The beginning of the first source that is prose, each sentence with the source's label."""
    for label, text in _SOURCE.findall(prompt):
        if "|" not in text and "```" not in text:
            said = _SENTENCE.split(" ".join(text.split()))[:sentences]
            return " ".join(f"{sentence} {label}" for sentence in said)
    return "NOT_COVERED"


@asynccontextmanager
async def quoting_model(pause: float) -> AsyncGenerator[str]:
    """Gives its base address. `pause`: seconds before each word."""

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
            await asyncio.sleep(pause)
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
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def _send(response: web.StreamResponse, delta: dict[str, str], finish: str | None) -> None:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "quoting"}
    if finish:
        chunk["usage"] = _USAGE
    await response.write(b"data: " + json.dumps({**chunk, "choices": [choice]}).encode() + b"\n\n")
