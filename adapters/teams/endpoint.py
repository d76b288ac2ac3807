"""`/api/messages`: authenticated first, acknowledged when it is sure not to be lost.

401 for what is not the Bot Connector's, 403 for a tenant that is not served, 415, 413 and 400 for what is
no activity. 500 where it could not be kept, 504 where that took too long and 503 where the Bot Connector's
keys can't be had: Teams tells it again, or shows an error to the one who waits for an invoke's answer. An
invoke has its own answer; everything else 201.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from typing import Any, Final

import structlog
from aiohttp import web

from adapters.teams.activity import NoActivity, reference_of
from adapters.teams.auth import Authenticator, KeysUntold, Unauthorized
from adapters.teams.context import Receiver
from adapters.teams.settings import TeamsSettings

log = structlog.get_logger()

PATH: Final = "/api/messages"
#: Bytes of an activity: Teams' own limit for a message is about 100 KB.
MAX_BYTES: Final = 1 << 20
#: Seconds within which an activity is answered; Teams waits for 15, and for an invoke for about 10.
DEADLINE: Final = 9.0


class Endpoint:
    def __init__(self, authenticator: Authenticator, receiver: Receiver, settings: TeamsSettings) -> None:
        self._authenticator, self._receiver, self._settings = authenticator, receiver, settings

    async def handle(self, request: web.Request) -> web.Response:
        try:
            if not self._settings.app_id and not is_local(request.remote):
                raise Unauthorized("no credentials, and not on this machine")
            claims = await self._authenticator.claims(request.headers.get("Authorization"))
            if request.content_type != "application/json":
                return web.Response(status=415)
            activity = await _json(request)
            self._authenticator.check(claims, activity)
        except Unauthorized as error:
            log.warning("teams_unauthorized", why=error.why)
            return web.Response(status=401)
        except KeysUntold:
            return web.Response(status=503, headers={"Retry-After": "5"})
        except _Refusal as error:
            return web.Response(status=error.status)
        try:
            return await self._answer(activity)
        except NoActivity:
            return web.Response(status=400)
        except Exception as error:
            log.exception("teams_activity_not_accepted", kind=str(activity.get("type"))[:40])
            return web.Response(status=504 if isinstance(error, TimeoutError) else 500)

    async def _answer(self, activity: dict[str, Any]) -> web.Response:
        if not self._serves(activity):
            log.warning("teams_tenant_not_served")
            return web.Response(status=403)
        async with asyncio.timeout(DEADLINE):
            answer = await self._receiver.receive(activity)
        if answer is None:
            return web.Response(status=201)
        if answer.body is None:
            return web.Response(status=answer.status)
        return web.json_response(answer.body, status=answer.status)

    def _serves(self, activity: dict[str, Any]) -> bool:
        allowed = self._settings.allowed_tenants
        if not allowed:
            return True
        try:
            return reference_of(activity).tenant.lower() in allowed
        except (KeyError, TypeError, ValueError) as error:
            raise NoActivity("it does not say where it happened") from error


class _Refusal(Exception):
    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(str(status))


async def _json(request: web.Request) -> dict[str, Any]:
    if (request.content_length or 0) > MAX_BYTES:
        raise _Refusal(413)
    raw = bytearray()
    async for chunk in request.content.iter_chunked(1 << 16):
        raw += chunk
        if len(raw) > MAX_BYTES:
            raise _Refusal(413)
    try:
        body: Any = json.loads(raw)
        # Half of a pair that stands for one character, as cut text can have, is not text: "?" instead.
        body = json.loads(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise _Refusal(400) from None
    if not isinstance(body, dict):
        raise _Refusal(400)
    return body


def is_local(remote: str | None) -> bool:
    """Whether a request comes from this machine itself."""
    try:
        return ipaddress.ip_address((remote or "").split("%")[0]).is_loopback
    except ValueError:
        return False
