"""What every route of the page needs: the bot, who is asking, and how to answer."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import structlog
from aiohttp import web

from adapters.conversation import Conversation, Person
from adapters.ports import Actor, Bot, Refused
from adapters.web.guard import Handler

log = structlog.get_logger()

BOT = web.AppKey("bot", Bot)
WORKSPACE = web.AppKey("workspace", str)
SPOOL = web.AppKey("spool", Path)

#: Whoever sits at this machine; the page is served on loopback only.
LOCAL_PERSON = Person(id="local", name="You", is_admin=True)

WENT_WRONG = "Something went wrong on my side. Please try again."


def conversation(app: web.Application, thread: str | None = None) -> Conversation:
    return Conversation(platform="web", tenant=app[WORKSPACE], id="page", kind="direct", thread=thread)


def actor(app: web.Application, thread: str | None = None) -> Actor:
    return Actor(workspace=app[WORKSPACE], person=LOCAL_PERSON, conversation=conversation(app, thread))


async def body(request: web.Request) -> dict[str, Any]:
    """The JSON object of a request. 400, 413 or 415 for anything else."""
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="This request is not JSON.")
    try:
        value = await request.json()
    except web.HTTPRequestEntityTooLarge as error:
        error.text = "This is too long to be sent."
        raise
    except (ValueError, LookupError, RecursionError):  # bad JSON, bad bytes, no such charset
        raise web.HTTPBadRequest(text="This request is not JSON.") from None
    if not isinstance(value, dict):
        raise web.HTTPBadRequest(text="This request is not a JSON object.")
    return cast("dict[str, Any]", value)


def texts(value: object, name: str) -> list[str]:
    """A list of texts from a request. 400 for anything else."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("list[object]", value)):
        raise web.HTTPBadRequest(text=f"{name} is a list of texts.")
    return cast("list[str]", value)


class Lines:
    """A response of JSON lines on its way."""

    def __init__(self, response: web.StreamResponse) -> None:
        self.response = response

    async def send(self, value: dict[str, Any]) -> None:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        await self.response.write(text.encode("utf-8", "replace") + b"\n")


@asynccontextmanager
async def lines(request: web.Request) -> AsyncGenerator[Lines]:
    """Answer with JSON lines, which nothing on the way may hold back.

    The status is sent before the work is done, so what fails then is told in a last line
    `{"type": "error", "error": ...}`. A page that was closed ends the stream quietly.
    """
    headers = {
        "Content-Type": "application/x-ndjson",
        "Cache-Control": "no-store",
        "X-Accel-Buffering": "no",
    }
    stream = Lines(web.StreamResponse(headers=headers))
    await stream.response.prepare(request)
    try:
        try:
            yield stream
        except Refused as error:
            await stream.send({"type": "error", "error": str(error)})
        except ConnectionResetError:
            raise
        except Exception:
            log.exception("page_stream_failed", path=request.path)
            await stream.send({"type": "error", "error": WENT_WRONG})
        await stream.response.write_eof()
    except ConnectionResetError:
        log.debug("page_closed", path=request.path)


@web.middleware
async def failures(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What the bot refuses, and what fails, as a sentence that the page shows."""
    try:
        return await handler(request)
    except Refused as error:
        return web.json_response({"error": str(error)}, status=409)
    except (web.HTTPException, ConnectionResetError):
        raise
    except Exception:
        log.exception("page_request_failed", path=request.path)
        return web.json_response({"error": WENT_WRONG}, status=500)
