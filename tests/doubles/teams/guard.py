"""Each call of the bot: its token, what a test wants to go wrong, the record, and the refusals."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.doubles.teams.errors import Json, Refusal
from tests.doubles.teams.faults import Breaks, Drops, Expires, Fails, Fault, Hangs, RateLimited, Slow
from tests.doubles.teams.graph_errors import graph_error
from tests.doubles.teams.login import Audience, Token
from tests.doubles.teams.rates import too_many
from tests.doubles.teams.rules import Called

if TYPE_CHECKING:
    from tests.doubles.teams.core import Core

Serve = Callable[[Token], web.Response]


class Guard:
    def __init__(self, core: Core) -> None:
        self._core = core
        self.closing = asyncio.Event()

    async def call(
        self, request: web.BaseRequest, kind: str, place: str, raw: bytes, audience: Audience, serve: Serve
    ) -> web.StreamResponse:
        """`serve` answers for the token's owner, or raises `Refusal`."""
        core, body = self._core, shown(raw)
        header = request.headers.get("Authorization", "")
        fault = core.faults.pick(kind)
        if isinstance(fault, Expires) and (token := core.login.token_of(header, audience)):
            token.expires = 0.0

        def refuse(refusal: Refusal, *, scripted: bool = False) -> web.Response:
            core.refused(kind, place, body, refusal, fault=scripted)
            return refused(refusal)

        def answer() -> web.Response:
            token = core.login.token_of(header, audience)
            if token is None:
                # A bot can't know that a token ended early, but one that never was is its fault.
                return refuse(_unauthorized(audience), scripted=core.login.over(header, audience))
            try:
                response = serve(token)
            except Refusal as refusal:
                return refuse(refusal)
            core.record(Called(kind, place, body, core.clock.now(), response.status))
            return response

        match fault:
            case Fails(status, code, message):
                return refuse(_error(audience, status, code, message), scripted=True)
            case RateLimited(after):
                return refuse(_limited(audience, after), scripted=True)
            case Breaks(False) | Hangs(False) | Drops(False):
                core.refused(kind, place, body, Refusal(0, "broken"), fault=True)
            case _:
                pass
        return await self.spoiled(request, fault, answer)

    async def spoiled(
        self, request: web.BaseRequest, fault: Fault | None, answer: Callable[[], web.Response]
    ) -> web.StreamResponse:
        match fault:
            case Fails(status, code, message):
                return refused(Refusal(status, code, message))
            case RateLimited(after):
                return refused(too_many(after))
            case Breaks(effect, status):
                if effect:
                    answer()
                page = "<html>Server error</html>"
                return web.Response(status=status, text=page, content_type="text/html")
            case Hangs(effect):
                if effect:
                    answer()
                await self.closing.wait()
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


def _unauthorized(audience: Audience) -> Refusal:
    if audience == "graph":
        return graph_error(401, "InvalidAuthenticationToken", "Access token is empty or has expired.")
    return Refusal(401, "Unauthorized", "Authorization has been denied for this request.")


def _error(audience: Audience, status: int, code: str, message: str) -> Refusal:
    if audience == "graph":
        return graph_error(status, code, message)
    return Refusal(status, code, message)


def _limited(audience: Audience, after: int | None) -> Refusal:
    refusal = too_many(after)
    if audience == "graph":
        made = graph_error(429, "TooManyRequests", "Too many requests")
        made.headers = refusal.headers
        return made
    return refusal


def refused(error: Refusal) -> web.Response:
    return web.json_response(error.body, status=error.status, headers=error.headers)


def shown(raw: bytes) -> Json:
    """The body for the record; empty where it is no object."""
    try:
        body: Any = json.loads(raw)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
