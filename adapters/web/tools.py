"""Search testing and settings."""

from __future__ import annotations

import asyncio
from typing import Any, cast, get_args

from aiohttp import web

from adapters.conversation import place_in
from adapters.forms import Submission
from adapters.ports import SearchHit, SearchMode
from adapters.web.context import BOT, actor, body
from adapters.web.plain import to_text
from adapters.web.source import link_within

_MODES = cast("tuple[SearchMode, ...]", get_args(SearchMode))
#: Characters of a passage among the hits.
_EXCERPT = 240


def _hit(hit: SearchHit) -> dict[str, Any]:
    return {
        "rank": hit.rank, "score": hit.score, "lists": hit.lists, "title": hit.title,
        "place": "summary of the document"
        if hit.summary
        else place_in(hit.name, hit.page, None, hit.heading_path),
        "excerpt": to_text(hit.text, limit=_EXCERPT), "url": link_within(hit.url),
    }  # fmt: skip


async def search(request: web.Request) -> web.Response:
    """The same query in each mode, side by side."""
    query = request.query.get("q", "").strip()
    if not query:
        raise web.HTTPBadRequest(text="Type what to search for.")
    documents, who = request.app[BOT].documents, actor(request.app)
    found = await asyncio.gather(
        *(documents.search(who, query[:2000], mode=mode, limit=10) for mode in _MODES)
    )
    return web.json_response(
        {mode: [_hit(hit) for hit in hits] for mode, hits in zip(_MODES, found, strict=True)}
    )


async def settings(request: web.Request) -> web.Response:
    form = await request.app[BOT].settings.form(actor(request.app))
    return web.json_response(form.model_dump(mode="json"))


async def save_settings(request: web.Request) -> web.Response:
    sent = await body(request)
    values, revision = sent.get("values"), sent.get("revision")
    if not isinstance(values, dict) or not isinstance(revision, int):
        raise web.HTTPBadRequest(text="Settings need values and a revision.")
    given = cast("dict[str, Any]", values)
    submission = Submission(form_id=str(sent.get("form_id", "")), values=given, revision=revision)
    result = await request.app[BOT].settings.submit(actor(request.app), submission)
    return web.json_response(result.model_dump(mode="json"))


ROUTES = [
    web.get("/api/search", search),
    web.get("/api/settings", settings),
    web.post("/api/settings", save_settings),
]
