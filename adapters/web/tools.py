"""Search testing and settings."""

from __future__ import annotations

from typing import get_args

from aiohttp import web

from adapters.forms import Submission
from adapters.ports import SearchMode
from adapters.web.context import BOT, actor, body


async def search(request: web.Request) -> web.Response:
    """The same query in each mode, side by side."""
    query = request.query.get("q", "").strip()
    if not query:
        raise web.HTTPBadRequest(text="Type what to search for.")
    documents, who = request.app[BOT].documents, actor(request.app)
    modes: dict[str, list[object]] = {}
    for mode in get_args(SearchMode):
        hits = await documents.search(who, query[:2000], mode=mode, limit=10)
        modes[mode] = [hit.model_dump(mode="json") for hit in hits]
    return web.json_response(modes)


async def settings(request: web.Request) -> web.Response:
    form = await request.app[BOT].settings.form(actor(request.app))
    return web.json_response(form.model_dump(mode="json"))


async def save_settings(request: web.Request) -> web.Response:
    sent = await body(request)
    values, revision = sent.get("values"), sent.get("revision")
    if not isinstance(values, dict) or not isinstance(revision, int):
        raise web.HTTPBadRequest(text="Settings need values and a revision.")
    submission = Submission(form_id=str(sent.get("form_id", "")), values=values, revision=revision)
    result = await request.app[BOT].settings.submit(actor(request.app), submission)
    return web.json_response(result.model_dump(mode="json"))


ROUTES = [
    web.get("/api/search", search),
    web.get("/api/settings", settings),
    web.post("/api/settings", save_settings),
]
