"""What every route of the page needs: the bot, and who is asking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aiohttp import web

from adapters.conversation import Conversation, Person
from adapters.ports import Actor, Bot, Refused

BOT = web.AppKey("bot", Bot)
WORKSPACE = web.AppKey("workspace", str)
SPOOL = web.AppKey("spool", Path)

#: Whoever sits at this machine; the page is served on loopback only.
LOCAL_PERSON = Person(id="local", name="You", is_admin=True)


def conversation(app: web.Application, thread: str | None = None) -> Conversation:
    return Conversation(platform="web", tenant=app[WORKSPACE], id="page", kind="direct", thread=thread)


def actor(app: web.Application, thread: str | None = None) -> Actor:
    return Actor(workspace=app[WORKSPACE], person=LOCAL_PERSON, conversation=conversation(app, thread))


async def body(request: web.Request) -> dict[str, Any]:
    """The JSON object of a request. 400 for anything else."""
    try:
        value = await request.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise web.HTTPBadRequest(text="This request is not JSON.") from None
    if not isinstance(value, dict):
        raise web.HTTPBadRequest(text="This request is not a JSON object.")
    return value


def line(value: dict[str, Any]) -> bytes:
    """One line of a stream of JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


async def start_stream(request: web.Request) -> web.StreamResponse:
    """A response of JSON lines, which nothing on the way may hold back."""
    response = web.StreamResponse(
        headers={
            "Content-Type": "application/x-ndjson",
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
            "X-Content-Type-Options": "nosniff",
        }
    )
    await response.prepare(request)
    return response


@web.middleware
async def refusals(request: web.Request, handler: Any) -> web.StreamResponse:
    """What the bot refuses, as a sentence that the page shows."""
    try:
        return await handler(request)
    except Refused as error:
        return web.json_response({"error": str(error)}, status=409)
