"""One call of the Bot Connector's REST API: tried again where that can't do a thing twice."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any, Final, cast
from urllib.parse import urlsplit

import structlog
from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    ConnectionTimeoutError,
)
from yarl import URL

from adapters.teams.credentials import Credentials, NoToken
from adapters.teams.errors import NO_PLACE, TOO_LARGE, NoEffect, NoPlace, RateLimited, TeamsError, Unclear

log = structlog.get_logger()

#: Answers after which Microsoft asks to try again, since the call had no effect.
_AGAIN: Final = frozenset({412, 502, 504})
#: There is no such call, and there won't be.
_NEVER: Final = 501
#: Calls that leave things the same when they are made twice.
_SAME: Final = frozenset({"GET", "PUT", "DELETE"})
#: Seconds waited here when Teams says "later", and between other tries; beyond, the caller decides.
LONGEST_WAIT: Final = 20.0
_PAUSES: Final = (0.5, 1.5, 4.0)
#: Seconds waited where a 429 does not say how long.
DEFAULT_WAIT = 2.0
_LATEST: Final = 3600


class Rest:
    def __init__(self, session: ClientSession, credentials: Credentials, timeout: float) -> None:
        self._session, self._credentials = session, credentials
        self._timeout = ClientTimeout(total=timeout, sock_connect=min(10.0, timeout))

    async def call(
        self, method: str, url: str, body: Any = None, *, same: bool = False, once: bool = False
    ) -> dict[str, Any]:
        """The JSON object of the answer; empty where it has none. Raises what `errors` names.

        Args:
            same: a POST that leaves things the same when it is made twice.
            once: not tried again, but for a token that had run out.
        """
        same = same or method in _SAME
        refused = ""
        for number in range(len(_PAUSES) + 1):
            last = once or number == len(_PAUSES)
            pause = _PAUSES[min(number, len(_PAUSES) - 1)] * random.uniform(0.7, 1.3)  # noqa: S311
            token = await self._token(refused)
            try:
                return await self._once(method, url, body, token)
            except RateLimited as error:
                if last or error.seconds > LONGEST_WAIT:
                    raise
                pause = error.seconds + random.uniform(0, 0.5)  # noqa: S311
            except NoEffect:
                if last:
                    raise
            except Unclear:
                if last or not same:
                    raise
            except TeamsError as error:
                if error.status != 401 or refused or not token:
                    raise
                if number == len(_PAUSES):
                    raise NoEffect("401") from error
                refused, pause = token, 0.0
            await asyncio.sleep(pause)
        raise AssertionError("unreachable")

    async def headers(self) -> dict[str, str]:
        """With the bot's token; empty without credentials. Raises `NoEffect` without a token."""
        return _headers(await self._token())

    async def _token(self, refused: str = "") -> str:
        try:
            return await self._credentials.token(refused=refused)
        except NoToken as error:  # asked for several times already
            raise NoEffect(f"no token: {error.why}") from error

    async def _once(self, method: str, url: str, body: Any, token: str) -> dict[str, Any]:
        _check(url)
        try:
            async with self._session.request(
                method,
                URL(url, encoded=True),
                json=body,
                headers=_headers(token),
                timeout=self._timeout,
                allow_redirects=False,
            ) as answer:
                return await _read(answer)
        except ClientConnectorCertificateError as error:
            raise TeamsError(0, "certificate") from error
        except (ClientConnectorError, ConnectionTimeoutError) as error:
            raise NoEffect(type(error).__name__) from error
        except (ClientError, TimeoutError, OSError) as error:
            raise Unclear(type(error).__name__) from error


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


async def _read(answer: ClientResponse) -> dict[str, Any]:
    status = answer.status
    try:
        found: Any = await answer.json(content_type=None)
    except ValueError:
        found = None
    body = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if 200 <= status < 300:
        return body
    code, message = _error(body)
    if status == 429:
        raise RateLimited(_seconds(answer.headers.get("Retry-After")))
    if status in _AGAIN and code:  # a page instead is a gateway's, which does not know what came after it
        raise NoEffect(code or str(status))
    if (status >= 500 and status != _NEVER) or status in _AGAIN:
        raise Unclear(code or str(status))
    if status == 413:
        raise TeamsError(status, TOO_LARGE, message)
    if code in NO_PLACE:
        raise NoPlace(status, code, message)
    raise TeamsError(status, code, message)


def _error(body: dict[str, Any]) -> tuple[str, str]:
    """Code and message; Teams has two ways to tell them."""
    inner: Any = body.get("error")
    error = cast("dict[str, Any]", inner) if isinstance(inner, dict) else body
    code, message = str(error.get("code") or ""), str(error.get("message") or "")
    if not code and "errorCode" in error:
        try:
            code = str(cast("dict[str, Any]", json.loads(message)).get("subCode") or "")
        except (ValueError, AttributeError):
            code = str(error["errorCode"])
    return code[:80], message[:300]


def _seconds(value: str | None) -> float:
    """Of a `Retry-After`; a date, which Teams does not send, counts as if there were none."""
    return float(min(int(value), _LATEST)) if value and value.isdecimal() else DEFAULT_WAIT


def _check(url: str) -> None:
    """The address comes from an authenticated activity; a token goes over https only."""
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise TeamsError(0, "not https")
