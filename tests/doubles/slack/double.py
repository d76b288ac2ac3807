"""The stand-in for Slack: a real HTTP server on 127.0.0.1 that refuses what Slack refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Self
from urllib.parse import parse_qsl

from aiohttp import web

# Each adds its methods to the table.
from tests.doubles.slack import api_chat, api_conversations, api_stream, api_users, api_views, hooks, oauth
from tests.doubles.slack.api import call
from tests.doubles.slack.core import Called
from tests.doubles.slack.errors import Json, SlackError
from tests.doubles.slack.faults import Breaks, Drops, Fails, Fault, Hangs, RateLimited, Slow
from tests.doubles.slack.files import Downloads
from tests.doubles.slack.interactions import Interactions

__all__ = ["SlackDouble", "api_chat", "api_conversations", "api_stream", "api_users", "api_views"]


class SlackDouble(Interactions):
    """`async with SlackDouble() as slack`: then `slack.api_url` is the base of the Web API.

    Fill `slack.world` (teams, people, channels), tell where the app listens (`slack.outbox.url`, or let
    it connect in Socket Mode), act as people do (`say`, `click`, …) and look at what they see.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.downloads = Downloads(self)
        self._closing = asyncio.Event()
        self._runner: web.ServerRunner | None = None
        self._port = 0

    @property
    def api_url(self) -> str:
        return f"{self.base}/api/"

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def open(self) -> None:
        self._closing = asyncio.Event()
        server = web.Server(self._serve)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
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
        await self.sockets.close()
        assert self._runner is not None
        await self._runner.cleanup()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        routes: dict[str, Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]] = {
            "/api/": self._api,
            "/link/": self.sockets.serve,
            "/files-pri/": self.downloads.serve,
            "/login": self.downloads.serve,
            "/response/": lambda asked: hooks.serve(self, asked),
        }
        for prefix, serve in routes.items():
            if request.path.startswith(prefix):
                return await serve(request)
        return web.Response(status=404)

    async def _api(self, request: web.BaseRequest) -> web.StreamResponse:
        name = request.path.removeprefix("/api/")
        try:
            args = await _arguments(request)
        except SlackError as error:
            self.calls.append(Called(name, {}, None, self.clock.now(), error.code))
            return _refusal(error)
        header = request.headers.get("Authorization", "")
        args |= oauth.basic(header)
        token = header.removeprefix("Bearer ") if header.startswith("Bearer ") else args.pop("token", None)
        return await self._spoiled(request, name, self.faults.pick(name), args, token)

    async def _spoiled(
        self, request: web.BaseRequest, name: str, fault: Fault | None, args: Json, token: str | None
    ) -> web.StreamResponse:
        match fault:
            case Fails(code, status, body):
                self._record(name, args, token, code)
                return web.json_response({"ok": False, "error": code, **(body or {})}, status=status)
            case RateLimited(after):
                self._record(name, args, token, "ratelimited")
                return _refusal(SlackError("ratelimited", status=429, headers={"Retry-After": str(after)}))
            case Breaks(effect, status):
                self._broken(name, args, token, effect)
                return web.Response(
                    status=status, text="<html>Server error</html>", content_type="text/html"
                )
            case Hangs(effect):
                self._broken(name, args, token, effect)
                await self._closing.wait()
                return web.Response(status=503)
            case Drops(effect):
                self._broken(name, args, token, effect)
                assert request.transport is not None
                request.transport.close()
                return web.Response(status=503)
            case Slow(seconds):
                answer = self._answer(name, args, token)
                await asyncio.sleep(seconds)
                return answer
            case None:
                return self._answer(name, args, token)

    def _broken(self, name: str, args: Json, token: str | None, effect: bool) -> None:
        if effect:
            self._answer(name, args, token)
        else:
            self._record(name, args, token, "broken")

    def _answer(self, name: str, args: Json, token: str | None) -> web.Response:
        try:
            answer = call(self, name, dict(args), token)
        except SlackError as error:
            self._record(name, args, token, error.code)
            return _refusal(error)
        self._record(name, args, token, None)
        known = self.world.tokens.get(token or "")
        scopes = {"X-OAuth-Scopes": ",".join(sorted(known.scopes))} if known else {}
        return web.json_response(answer, headers=scopes)

    def _record(self, name: str, args: Json, token: str | None, error: str | None) -> None:
        known = self.world.tokens.get(token or "")
        team = known.team if known else None
        self.calls.append(Called(name, args, team, self.clock.now(), error))
        self.changed_now()


async def _arguments(request: web.BaseRequest) -> Json:
    """From the query, and from a form or a JSON body."""
    args: dict[str, Any] = dict(request.query)
    raw = await request.read()
    if not raw:
        return args
    if request.content_type == "application/json":
        try:
            body = json.loads(raw)
        except ValueError:
            raise SlackError("invalid_json") from None
        if not isinstance(body, dict):
            raise SlackError("json_not_object")
        return args | body
    if request.content_type == "application/x-www-form-urlencoded":
        return args | dict(parse_qsl(raw.decode(), keep_blank_values=True))
    raise SlackError("invalid_post_type")


def _refusal(error: SlackError) -> web.Response:
    return web.json_response(error.body, status=error.status, headers=error.headers)
