"""The stand-in for Teams: a real HTTP server on 127.0.0.1 that refuses what Teams refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Self
from urllib.parse import unquote

from aiohttp import web

from tests.doubles.teams.errors import Refusal, bad_request
from tests.doubles.teams.guard import Guard
from tests.doubles.teams.interactions import Interactions

Answer = tuple[int, Any]
_CONNECTOR, _GRAPH = "/smba/emea/", "/graph/v1.0/"


class TeamsDouble(Interactions):
    """`async with TeamsDouble() as teams`: then `teams.url` is the service URL of its activities.

    Fill `teams.world` (tenants, people, teams, chats), tell where the bot listens (`teams.outbox.url`),
    act as people do (`say`, `click`, …) and look at what they see (`shown`).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.guard = Guard(self)
        self._runner: web.ServerRunner | None = None
        self._port = 0

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def open(self) -> None:
        """Also again after `close`, at the same address."""
        self.guard = Guard(self)
        self._runner = web.ServerRunner(web.Server(self._serve), shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = int(self._runner.addresses[0][1])
        self.base = f"http://127.0.0.1:{self._port}"

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        self.guard.closing.set()
        await self.outbox.close()
        assert self._runner is not None
        await self._runner.cleanup()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path
        if path.startswith(_CONNECTOR):
            return await self._connect(request)
        if path.startswith(_GRAPH):
            return await self._ask_graph(request)
        if path.startswith("/download/"):
            fault = self.faults.pick("content")
            return await self.guard.spoiled(request, fault, lambda: self.downloads.ticketed(request))
        if path.startswith("/openid/"):
            return await self.guard.spoiled(request, self.faults.pick("keys"), lambda: self._keys(path))
        response = await self.login.serve(request, self.base)
        fault = self.faults.pick("token") if "token" in path else None
        return await self.guard.spoiled(request, fault, lambda: response)

    def _keys(self, path: str) -> web.Response:
        if path == "/openid/.well-known/openidconfiguration":
            return web.json_response(self.keys.metadata(self.base))
        return web.json_response(self.keys.jwks()) if path == "/openid/keys" else web.Response(status=404)

    # -- the Bot Connector ---------------------------------------------------------------------

    async def _connect(self, request: web.BaseRequest) -> web.StreamResponse:
        raw, parts = await request.read(), _parts(request, _CONNECTOR)
        if request.method == "GET" and parts[:2] == ["v3", "attachments"] and len(parts) == 5:
            return await self.guard.call(
                request, "picture", parts[2], raw, "connector", lambda _: self.downloads.picture(parts[2])
            )
        kind, place, serve = self._call(request, parts, raw)

        def answer(_: object) -> web.Response:
            status, body = serve()
            return web.json_response(body, status=status)

        return await self.guard.call(request, kind, place, raw, "connector", answer)

    def _call(
        self, request: web.BaseRequest, parts: list[str], raw: bytes
    ) -> tuple[str, str, Callable[[], Answer]]:
        """What is called: its kind, the conversation, and what answers."""

        def body() -> Any:
            if request.content_type != "application/json":
                raise Refusal(415, "UnsupportedMediaType", "The content type is not supported")
            try:
                return json.loads(raw)
            except ValueError:
                raise bad_request("Invalid JSON") from None

        connector, roster, query = self.connector, self.roster, request.query
        match request.method, parts:
            case "POST", ["v3", "conversations"]:
                return "create", "", lambda: roster.create(body())
            case "POST", ["v3", "conversations", place, "activities"]:
                return "send", place, lambda: connector.send(place, body())
            case "POST", ["v3", "conversations", place, "activities", id]:
                return "send", place, lambda: connector.send(place, body(), id)
            case "PUT", ["v3", "conversations", place, "activities", id]:
                return "update", place, lambda: connector.update(place, id, body())
            case "DELETE", ["v3", "conversations", place, "activities", id]:
                return "delete", place, lambda: connector.delete(place, id)
            case "GET", ["v3", "conversations", place, "members"]:
                return "members", place, lambda: (200, roster.members(place))
            case "GET", ["v3", "conversations", place, "pagedmembers"]:
                return "members", place, lambda: (200, roster.paged(place, query))
            case "GET", ["v3", "conversations", place, "members", id]:
                return "member", place, lambda: (200, roster.member(place, id))
            case "GET", ["v3", "teams", id]:
                return "team", id, lambda: (200, roster.team(id))
            case "GET", ["v3", "teams", id, "conversations"]:
                return "team", id, lambda: (200, roster.channels(id))
            case method, _:
                path = "/".join(parts)

                def unknown() -> Answer:
                    raise Refusal(404, "NotFound", f"No such operation: {method} {path}")

                return "unknown", path, unknown

    # -- Microsoft Graph -----------------------------------------------------------------------

    async def _ask_graph(self, request: web.BaseRequest) -> web.StreamResponse:
        parts = _parts(request, _GRAPH)
        where = "/".join(parts)

        def answer(token: Any) -> web.Response:
            if request.method != "GET":
                raise Refusal(405, "MethodNotAllowed", "Only GET is served here")
            match parts:
                case ["shares", share, "driveItem", "content"]:
                    # On a host of its own, which shall not see the token.
                    url = self.payloads.ticket(self.graph.shared(token, share))
                    elsewhere = url.replace("//127.0.0.1:", "//localhost:", 1)
                    return web.Response(status=302, headers={"Location": elsewhere})
                case _:
                    return web.json_response(self.graph.answer(token, parts, request.query))

        kind = "shares" if parts[0] == "shares" else "graph"
        return await self.guard.call(request, kind, where, b"", "graph", answer)


def _parts(request: web.BaseRequest, prefix: str) -> list[str]:
    path = request.raw_path.partition("?")[0].removeprefix(prefix)
    return [unquote(part) for part in path.split("/")]
