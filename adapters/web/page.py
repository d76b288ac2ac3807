"""The web application: source views for everyone with a link, and the chat page on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from aiohttp import web

from adapters.ports import Bot
from adapters.web import chat, documents, preview, source, tools
from adapters.web.context import BOT, SPOOL, WORKSPACE, failures
from adapters.web.guard import Handler, same_page_only, security_headers

STATIC = Path(__file__).parent / "static"
#: What the pages load; nothing else of the folder is served.
ASSETS = frozenset(file.name for file in STATIC.iterdir() if file.suffix in (".css", ".js", ".svg"))


async def _index(_request: web.Request) -> web.FileResponse:
    return web.FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


async def _asset(request: web.Request) -> web.FileResponse:
    name = request.match_info["name"]
    if name not in ASSETS:
        raise web.HTTPNotFound
    return web.FileResponse(STATIC / name, headers={"Cache-Control": "no-cache"})


def web_application(bot: Bot, *, spool: Path, workspace: str | None = None) -> web.Application:
    """The routes of this adapter.

    Args:
        spool: folder for uploads on their way.
        workspace: serve the chat page for this workspace, which only a server on loopback may.
    """
    app = web.Application(middlewares=[failures])
    app.on_response_prepare.append(security_headers)
    app[BOT], app[SPOOL] = bot, spool
    app.add_routes([*source.ROUTES, web.get("/assets/{name}", _asset)])
    if workspace is not None:
        app[WORKSPACE] = workspace
        for route in (
            web.get("/", _index),
            *chat.ROUTES,
            *preview.ROUTES,
            *documents.ROUTES,
            *tools.ROUTES,
        ):
            handler = cast("Handler", route.handler)
            app.router.add_route(route.method, route.path, same_page_only(handler))
    return app
