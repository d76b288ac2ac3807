"""Whether a request comes from the Bot Connector: its token, checked before anything is done.

What is checked is Microsoft's list for connector-to-bot tokens
(https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication). The
SDK's own check answers an expired or garbled token with 500, and fetches keys on the event loop.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

import jwt
import structlog
from aiohttp import ClientError, ClientSession, ClientTimeout
from jwt.algorithms import RSAAlgorithm

log = structlog.get_logger()

METADATA: Final = "https://login.botframework.com/v1/.well-known/openidconfiguration"
ISSUER: Final = "https://api.botframework.com"
_CHANNEL: Final = "msteams"
#: Seconds by which clocks may differ.
_SKEW: Final = 300
#: Seconds for which keys are taken as true, and between two askings for an unknown one.
FRESH: Final = 24 * 3600.0
ASK_AGAIN: Final = 60.0
_TIMEOUT: Final = ClientTimeout(total=10.0)
#: Characters of a token: real ones have about 1,000.
_LONGEST: Final = 16_384


class Unauthorized(Exception):
    """The request is not the Bot Connector's; `why` is a word for the log."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


@dataclass(frozen=True)
class _Key:
    public: Any
    endorsements: frozenset[str]


class Keys:
    """The Bot Connector's public keys, by id. One fetch at a time; a failed one keeps what there is."""

    def __init__(
        self, session: ClientSession, url: str = METADATA, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._session, self._url, self._now = session, url, now
        self._keys: dict[str, _Key] = {}
        self._asked = self._told = float("-inf")
        self._lock = asyncio.Lock()

    async def warm(self) -> None:
        """Ask now, so that the first request needn't wait; a failure is left to later."""
        await self._ask()

    @property
    def known(self) -> int:
        """How many keys there are."""
        return len(self._keys)

    async def key(self, kid: str) -> _Key | None:
        """An unknown id is asked for, at most once a minute: anybody can make ids up."""
        if kid not in self._keys or self._now() > self._told + FRESH:
            await self._ask()
        return self._keys.get(kid)

    async def _ask(self) -> None:
        async with self._lock:
            if self._now() < self._asked + ASK_AGAIN:
                return
            self._asked = self._now()
            try:
                document = await self._get(self._url)
                found = await self._get(str(document["jwks_uri"]))
                keys = _read(cast("list[Any]", found["keys"]))
            except (ClientError, TimeoutError, OSError, ValueError, KeyError, TypeError) as error:
                log.warning("teams_keys_not_told", error=type(error).__name__)
                return
            if keys:
                self._keys, self._told = keys, self._asked

    async def _get(self, url: str) -> dict[str, Any]:
        async with self._session.get(url, timeout=_TIMEOUT) as answer:
            answer.raise_for_status()
            return cast("dict[str, Any]", await answer.json(content_type=None))


def _read(keys: list[Any]) -> dict[str, _Key]:
    read: dict[str, _Key] = {}
    for key in keys:
        try:
            if key["kty"] == "RSA":
                endorsements = frozenset(map(str, key.get("endorsements") or []))
                read[str(key["kid"])] = _Key(RSAAlgorithm.from_jwk(json.dumps(key)), endorsements)
        except (KeyError, TypeError, ValueError, jwt.PyJWTError):
            continue  # a key of a kind that is not used here
    return read


class Authenticator:
    def __init__(self, keys: Keys, app_id: str) -> None:
        """Without an app id everything is let in, which only a server on loopback may do."""
        self._keys, self._app_id = keys, app_id

    async def claims(self, header: str | None) -> dict[str, Any]:
        """Of a valid token; empty without credentials. Raises `Unauthorized`."""
        if not self._app_id:
            return {}
        scheme, _, token = (header or "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token or len(token) > _LONGEST:
            raise Unauthorized("no token")
        try:
            kid = jwt.get_unverified_header(token).get("kid")
        except jwt.PyJWTError as error:
            raise Unauthorized("no readable token") from error
        key = await self._keys.key(kid) if isinstance(kid, str) else None
        if key is None:
            raise Unauthorized("unknown key")
        try:
            claims = jwt.decode(
                token,
                key.public,
                algorithms=["RS256"],
                audience=self._app_id,
                issuer=ISSUER,
                leeway=_SKEW,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise Unauthorized(type(error).__name__) from error
        if _CHANNEL not in key.endorsements:
            raise Unauthorized("key without endorsement")
        return claims

    def check(self, claims: dict[str, Any], activity: Any) -> None:
        """That the activity is the one that the token stands for. Raises `Unauthorized`."""
        if not self._app_id:
            return
        place: Any = cast("dict[str, Any]", activity) if isinstance(activity, dict) else {}
        claimed = claims.get("serviceurl", claims.get("serviceUrl"))
        if not isinstance(claimed, str) or claimed != place.get("serviceUrl"):
            raise Unauthorized("another serviceUrl")
