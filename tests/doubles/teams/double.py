"""The stand-in for Teams: a real HTTP server on 127.0.0.1 that refuses what Teams refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Self
from urllib.parse import unquote

from aiohttp import web

from tests.doubles.teams.core import Called
from tests.doubles.teams.errors import Json, Refusal, bad_request
from tests.doubles.teams.faults import Breaks, Drops, Expires, Fails, Fault, Hangs, RateLimited, Slow
from tests.doubles.teams.people import People
from tests.doubles.teams.rates import too_many

Answer = tuple[int, Any]


class TeamsDouble(People):
    """`async with TeamsDouble() as teams`: then `teams.url` is the service URL of its activities.

    Fill `teams.world` (tenants, people, teams, chats), tell where the bot listens (`teams.outbox.url`),
    act as people do (`say`, `click`, …) and look at what they see (`shown`).
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._closing = asyncio.Event()
        self._runner: web.ServerRunner | None = None
        self._port = 0

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def open(self) -> None:
        self._closing = asyncio.Event()
        self._runner = web.ServerRunner(web.Server(self._serve), shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = int(self._runner.addresses[0][1])
        self.base = f"http://127.0.0.1:{self._port}"

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        self._closing.set()
        await self.outbox.close()
        assert self._runner is not None
        await self._runner.cleanup()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path
        if path.startswith("/smba/emea/"):
            return await self._connect(request)
        if path.startswith("/openid/"):
            return await self._spoiled(request, self.faults.pick("keys"), lambda: self._keys(path))
        response = await self.login.serve(request, self.base)
        fault = self.faults.pick("token") if request.method == "POST" else None
        return await self._spoiled(request, fault, lambda: response)

    def _keys(self, path: str) -> web.Response:
        if path == "/openid/.well-known/openidconfiguration":
            return web.json_response(self.keys.metadata(self.base))
        return web.json_response(self.keys.jwks()) if path == "/openid/keys" else web.Response(status=404)

    # -- the Bot Connector ---------------------------------------------------------------------

    async def _connect(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.read()
        path = request.raw_path.partition("?")[0].removeprefix("/smba/emea/")
        parts = [unquote(part) for part in path.split("/")]
        header = request.headers.get("Authorization", "")
        kind, place, serve = self._call(request, parts, raw)
        body = _shown(raw)
        fault = self.faults.pick(kind)
        match fault:
            case Expires():
                if token := self.login.token_of(header, "connector"):
                    token.expires = 0.0
            case Fails(status, code, message):
                refusal = Refusal(status, code, message)
                self.refused(kind, place, body, refusal, fault=True)
                return _refusal(refusal)
            case RateLimited(after):
                self.refused(kind, place, body, too_many(after), fault=True)
                return _refusal(too_many(after))
            case Breaks(False) | Hangs(False) | Drops(False):
                self.refused(kind, place, body, Refusal(0, "broken"), fault=True)
            case _:
                pass

        def answered() -> web.Response:
            if self.login.token_of(header, "connector") is None:
                refusal = Refusal(401, "Unauthorized", "Authorization has been denied for this request.")
                self.refused(kind, place, body, refusal, fault=isinstance(fault, Expires))
                return _refusal(refusal)
            try:
                status, answer = serve()
            except Refusal as refusal:
                self.refused(kind, place, body, refusal)
                return _refusal(refusal)
            self.record(Called(kind, place, body, self.clock.now(), status))
            return web.json_response(answer, status=status)

        return await self._spoiled(request, fault, answered)

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

    async def _spoiled(
        self, request: web.BaseRequest, fault: Fault | None, answer: Callable[[], web.Response]
    ) -> web.StreamResponse:
        match fault:
            case Fails(status, code, message):
                return _refusal(Refusal(status, code, message))
            case RateLimited(after):
                return _refusal(too_many(after))
            case Breaks(effect, status):
                if effect:
                    answer()
                return web.Response(
                    status=status, text="<html>Server error</html>", content_type="text/html"
                )
            case Hangs(effect):
                if effect:
                    answer()
                await self._closing.wait()
                return web.Response(status=503)
            case Drops(effect):
                if effect:
                    answer()
                assert request.transport is not None
                request.transport.close()
                return web.Response(status=503)
            case Slow(seconds):
                response = answer()
                await asyncio.sleep(seconds)
                return response
            case Expires() | None:
                return answer()


def _refusal(error: Refusal) -> web.Response:
    return web.json_response(error.body, status=error.status, headers=error.headers)


def _shown(raw: bytes) -> Json:
    """The body for the record; empty where it is no object."""
    try:
        body = json.loads(raw)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
