"""Documents: list, progress, labels, delete."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from aiohttp import web

from adapters.web.context import BOT, actor, body, lines, texts
from adapters.web.uploads import upload

#: Versions that one request watches.
_WATCHED = 5000


async def all_documents(request: web.Request) -> web.Response:
    bot, who = request.app[BOT], actor(request.app)
    found = await bot.documents.list(who)
    bases = await bot.documents.knowledge_bases(who)
    return web.json_response(
        {"documents": [d.model_dump(mode="json") for d in found], "knowledge_bases": list(bases)}
    )


async def progress(request: web.Request) -> web.StreamResponse:
    """Progress of the versions in `ids`, as JSON lines, until all have ended."""
    ids = texts((await body(request)).get("ids"), "ids")[:_WATCHED]
    updates: Any = request.app[BOT].documents.watch(actor(request.app), ids)
    async with lines(request) as stream, aclosing(updates):
        async for update in updates:
            await stream.send({"type": "progress", **update.model_dump(mode="json")})
    return stream.response


async def cancel(request: web.Request) -> web.Response:
    ids = texts((await body(request)).get("ids"), "ids")
    result = await request.app[BOT].documents.cancel(actor(request.app), ids)
    return web.json_response(result.model_dump(mode="json"))


async def relabel(request: web.Request) -> web.Response:
    labels = texts((await body(request)).get("labels"), "labels")
    changed = await request.app[BOT].documents.relabel(
        actor(request.app), request.match_info["document"], labels
    )
    return web.json_response(changed.model_dump(mode="json"))


async def delete(request: web.Request) -> web.Response:
    await request.app[BOT].documents.delete(actor(request.app), request.match_info["document"])
    return web.json_response({})


ROUTES = [
    web.get("/api/documents", all_documents),
    web.post("/api/documents", upload),
    web.post("/api/documents/progress", progress),
    web.post("/api/documents/cancel", cancel),
    web.post("/api/documents/{document}/labels", relabel),
    web.delete("/api/documents/{document}", delete),
]
