"""A model over the OpenAI-compatible API that streams two sentences on its first source."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

_LABEL = re.compile(r"\[(\d+)\]")


@asynccontextmanager
async def slow_model(seconds: float, share: float) -> AsyncGenerator[str]:
    """Gives its base address. `share` of the questions take `seconds`, the others no time."""

    async def complete(request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = await request.json()
        prompt = json.dumps(body["messages"])
        label = match[1] if (match := _LABEL.search(prompt)) else "1"
        slow = zlib.crc32(prompt.encode()) % 1000 < 1000 * share
        text = f"This is what the handbook says of it. [{label}] And this is a second sentence. [{label}]"
        if not body.get("stream"):
            message = {"role": "assistant", "content": text}
            return web.json_response(
                {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": _USAGE}
            )
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        words = text.split(" ")
        for number, word in enumerate(words):
            if slow:
                await asyncio.sleep(seconds / len(words))
            delta = {"content": word if number == 0 else f" {word}"}
            await _send(response, {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        await _send(
            response, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": _USAGE}
        )
        await response.write(b"data: [DONE]\n\n")
        return response

    application = web.Application()
    application.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


async def _send(response: web.StreamResponse, chunk: dict[str, Any]) -> None:
    whole = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "slow", **chunk}
    await response.write(b"data: " + json.dumps(whole).encode() + b"\n\n")
