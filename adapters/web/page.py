"""The web application: source views for everyone with a link, and the chat page on loopback."""

from __future__ import annotations

from pathlib import Path

from aiohttp import web

from adapters.ports import Bot
from adapters.web import chat, documents, source, tools
from adapters.web.context import BOT, SPOOL, WORKSPACE, refusals
from adapters.web.guard import same_page_only, security_headers

STATIC = Path(__file__).parent / "static"
#: What the page loads; nothing else of the folder is served.
ASSETS = ("app.css", "app.js", "chat.js", "documents.js", "dom.js", "icon.svg", "tools.js")


async def _index(_request: web.Request) -> web.FileResponse:
    return web.FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


async def _asset(request: web.Request) -> web.FileResponse:
    name = request.match_info["name"]
    if name not in ASSETS and name != "source.css":
        raise web.HTTPNotFound
    return web.FileResponse(STATIC / name, headers={"Cache-Control": "no-cache"})


def _guarded(route: web.RouteDef) -> web.RouteDef:
    handler: object = same_page_only(route.handler)  # type: ignore[arg-type]
    return web.RouteDef(route.method, route.path, handler, route.kwargs)  # type: ignore[arg-type]


def web_application(bot: Bot, *, spool: Path, workspace: str | None = None) -> web.Application:
    """The routes of this adapter.

    Args:
        spool: folder for uploads on their way.
        workspace: serve the chat page for this workspace, which only a server on loopback may.
    """
    app = web.Application(middlewares=[security_headers, refusals])
    app[BOT], app[SPOOL] = bot, spool
    app.add_routes([*source.ROUTES, web.get("/assets/{name}", _asset)])
    if workspace is not None:
        app[WORKSPACE] = workspace
        routes = [web.get("/", _index), *chat.ROUTES, *documents.ROUTES, *tools.ROUTES]
        app.add_routes([_guarded(route) for route in routes])
    return app
