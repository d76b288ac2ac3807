"""Slack's requests over HTTP: events, commands and interactions come to one address.

What does not come from Slack ends here, before bolt reads it. See
https://docs.slack.dev/authentication/verifying-requests-from-slack/.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from hashlib import sha256
from time import time
from typing import Any, Final, cast

import structlog
from aiohttp import web
from aiohttp.http import HttpProcessingError
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest

from adapters.slack.settings import SlackSettings

log = structlog.get_logger()

EVENTS: Final = "/slack/events"
#: Bytes; Slack's own requests are far smaller.
LARGEST: Final = 1024 * 1024
#: Seconds by which the clocks may differ, and for which a request is not stale.
WINDOW: Final = 300
#: Seconds in which the body has to be here.
_READ_WITHIN: Final = 10.0
#: Headers that bolt may see; others of its own would steer it, and Slack sends none of them.
_PASSED: Final = (
    "Content-Type",
    "X-Slack-Request-Timestamp",
    "X-Slack-Signature",
    "X-Slack-Retry-Num",
    "X-Slack-Retry-Reason",
)
_OBJECTS: Final = ("channel", "container", "event", "message", "user", "view")
_LISTS: Final = ("actions", "authorizations")
_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE: Final = re.compile(r"v0=[0-9a-f]{64}", re.ASCII)


def slack_routes(app: AsyncApp, settings: SlackSettings) -> list[web.RouteDef]:
    """401 for what is not signed by Slack within five minutes, 413 beyond 1 MiB, 400 for what is signed
    and can't be read. Needs `settings.signing_secret`."""
    secret = (settings.signing_secret or "").encode()
    if not secret:
        raise ValueError("HTTP needs a signing secret")

    async def receive(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            return web.Response(status=415)
        raw = await _body(request)
        if isinstance(raw, web.Response):
            return raw
        if (wrong := _unproven(request, raw, secret)) is not None:
            log.warning("slack_request_refused", reason=wrong)
            return web.Response(status=401)
        if (made := _readable(request, raw)) is None:
            log.warning("slack_request_unreadable", bytes=len(raw))
            return web.Response(status=400)
        return await to_aiohttp_response(await app.async_dispatch(made))

    return [web.post(EVENTS, receive)]


async def _body(request: web.Request) -> bytes | web.Response:
    """The raw body, or what to answer instead."""
    if (request.content_length or 0) > LARGEST:
        return web.Response(status=413)
    raw = bytearray()
    try:
        async with asyncio.timeout(_READ_WITHIN):
            async for chunk in request.content.iter_any():
                raw += chunk
                if len(raw) > LARGEST:
                    return web.Response(status=413)
    except TimeoutError:
        return web.Response(status=408)
    except (web.RequestPayloadError, HttpProcessingError):
        return web.Response(status=400)
    return bytes(raw)


def _unproven(request: web.Request, raw: bytes, secret: bytes) -> str | None:
    """Why this may not be Slack's, None if it is. A header that is there twice proves nothing."""
    stamps = request.headers.getall("X-Slack-Request-Timestamp", [])
    signatures = request.headers.getall("X-Slack-Signature", [])
    if len(stamps) != 1 or len(signatures) != 1:
        return "headers"
    if not _TIMESTAMP.fullmatch(stamps[0]) or abs(time() - int(stamps[0])) > WINDOW:
        return "timestamp"
    expected = f"v0={hmac.new(secret, b'v0:' + stamps[0].encode() + b':' + raw, sha256).hexdigest()}"
    if not _SIGNATURE.fullmatch(signatures[0]) or not hmac.compare_digest(expected, signatures[0]):
        return "signature"
    return None


def _readable(request: web.Request, raw: bytes) -> AsyncBoltRequest | None:
    """For bolt, which reads in its constructor; None where it can't be any of Slack's payloads."""
    headers: dict[str, Any] = {name: request.headers[name] for name in _PASSED if name in request.headers}
    try:
        made = AsyncBoltRequest(body=raw.decode(), headers=headers)
    except Exception as error:  # whatever a strange body does to bolt, it is the body's fault
        log.info("slack_body_unreadable", error=type(error).__name__)
        return None
    return made if _shaped(made.body) else None


def _shaped(body: Any) -> bool:
    """bolt takes for granted what Slack's payloads hold: objects and lists of objects. It stumbles over
    null where it looks for more, so what is null is taken out as not there."""
    if not isinstance(body, dict):
        return False
    found = cast("dict[str, Any]", body)
    if "event" in found and found["event"] is None:
        return False
    for name in (*_OBJECTS, *_LISTS, "callback_id"):
        if name in found and found[name] is None:
            del found[name]
    objects = all(isinstance(found[name], dict) for name in _OBJECTS if name in found)
    lists = all(
        isinstance(found[name], list) and all(isinstance(one, dict) for one in found[name])
        for name in _LISTS
        if name in found
    )
    named = isinstance(found.get("callback_id", ""), str)
    return objects and lists and named and found.get("actions") != []
