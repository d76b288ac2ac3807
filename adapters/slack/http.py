"""Slack's requests over HTTP. What is not signed by Slack ends here, before anything reads it."""

from __future__ import annotations

import hashlib
import hmac
import time
from typing import Any, Final

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest

from adapters.slack.settings import SlackSettings

log = structlog.get_logger()

#: Events, commands and interactions all come here.
PATH: Final = "/slack/events"
#: Seconds that a request's time may differ from ours.
WINDOW: Final = 300
#: Bytes of a request; Slack's own are far smaller.
MAX_BODY: Final = 1 << 20
_TIME, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Slack's v0 scheme: HMAC-SHA256 over version, time and body."""
    digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256)
    return f"v0={digest.hexdigest()}"


def genuine(secret: str, headers: dict[str, list[str]], body: bytes, now: float) -> bool:
    """Whether Slack sent that, and just now. `headers` by name in lower case, with all values."""
    times, signatures = headers.get(_TIME.lower(), []), headers.get(_SIGNATURE.lower(), [])
    if len(times) != 1 or len(signatures) != 1:
        return False
    # Of other digits than 0..9, `int` would read some; a time of many digits is none.
    if not (times[0].isascii() and times[0].isdigit() and len(times[0]) <= 12):
        return False
    if abs(now - int(times[0])) > WINDOW:
        return False
    expected = signature(secret, times[0], body)
    return hmac.compare_digest(expected.encode(), signatures[0].encode("utf-8", "surrogatepass"))


def slack_routes(app: AsyncApp, settings: SlackSettings) -> list[web.RouteDef]:
    secret = settings.signing_secret
    assert secret, "without it anybody could speak for Slack"

    async def receive(request: web.Request) -> web.Response:
        body = bytearray()
        async for chunk in request.content.iter_any():
            body += chunk
            if len(body) > MAX_BODY:
                raise web.HTTPRequestEntityTooLarge(MAX_BODY, len(body))
        headers: dict[str, list[str]] = {}
        for name, value in request.headers.items():
            headers.setdefault(name.lower(), []).append(value)
        if not genuine(secret, headers, bytes(body), time.time()):
            log.warning("slack_request_refused", remote=request.remote)
            raise web.HTTPUnauthorized(text="This request was not signed by Slack.")
        given: dict[str, Any] = dict(headers)
        made = AsyncBoltRequest(
            body=body.decode("utf-8", "replace"), query=request.query_string, headers=given
        )
        return await to_aiohttp_response(await app.async_dispatch(made))

    return [web.post(PATH, receive)]
