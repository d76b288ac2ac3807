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
from contextlib import suppress
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
#: Seconds for which keys are taken as true; they are asked for anew at half of it.
FRESH: Final = 24 * 3600.0
#: Seconds between two askings: after keys were told, and after they were not.
ASK_AGAIN: Final = 60.0
TRY_AGAIN: Final = 5.0
_TIMEOUT: Final = ClientTimeout(total=10.0)
#: Seconds that a request waits for keys: Teams waits for its answer.
_PATIENCE: Final = 4.0
#: Characters of a token: real ones have about 1,000.
_LONGEST: Final = 16_384


class Unauthorized(Exception):
    """The request is not the Bot Connector's; `why` is a word for the log."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class KeysUntold(Exception):
    """Nothing can be said about the request, since the Bot Connector's keys can't be had."""


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
        #: Belongs to no request: one that goes away does not break it off for the others.
        self._asking: asyncio.Task[None] | None = None

    async def warm(self) -> None:
        """Ask now, so that the first request needn't wait; a failure is left to later."""
        await self._ask()

    async def close(self) -> None:
        """Break off a fetch that is on its way."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait([self._asking])

    @property
    def known(self) -> int:
        """How many keys there are."""
        return len(self._keys)

    async def key(self, kid: str) -> _Key | None:
        """An unknown id is asked for, at most once a minute: anybody can make ids up.

        Raises `KeysUntold` where it is unknown and the newest keys could not be had.
        """
        age = self._now() - self._told
        if kid in self._keys and age < FRESH:
            if age > FRESH / 2:
                self._begin()
            return self._keys[kid]
        await self._ask()
        key = self._keys.get(kid)
        if key is None and self._told < self._asked:
            raise KeysUntold
        return key

    def _begin(self) -> asyncio.Task[None] | None:
        """The fetch that is on its way, or a new one where it is time for one."""
        if self._asking is None:
            pause = ASK_AGAIN if self._told == self._asked else TRY_AGAIN
            if self._now() < self._asked + pause:
                return None
            self._asked = self._now()
            self._asking = asyncio.create_task(self._fetch())
            self._asking.add_done_callback(self._ended)
        return self._asking

    def _ended(self, _task: asyncio.Task[None]) -> None:
        self._asking = None

    async def _ask(self) -> None:
        if (asking := self._begin()) is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    await asyncio.shield(asking)

    async def _fetch(self) -> None:
        try:
            document = await self._get(self._url)
            found = await self._get(str(document["jwks_uri"]))
            keys = _read(cast("list[Any]", found["keys"]))
        except (ClientError, TimeoutError, OSError, ValueError, KeyError, TypeError) as error:
            log.warning("teams_keys_not_told", error=type(error).__name__)
            return
        if keys:
            self._keys, self._told = keys, self._asked
        else:
            log.warning("teams_keys_not_told", error="none")

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
        """Of a valid token; empty without credentials. Raises `Unauthorized`, `KeysUntold`."""
        if not self._app_id:
            return {}
        scheme, _, token = (header or "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token or len(token) > _LONGEST:
            raise Unauthorized("no token")
        try:
            kid = jwt.get_unverified_header(token).get("kid")
        except (jwt.PyJWTError, ValueError) as error:
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
        # The Bot Connector signs for all of a bot's channels, and in some of them, such as Direct Line,
        # whoever writes can claim to be anybody in any tenant.
        if place.get("channelId") != _CHANNEL:
            raise Unauthorized("another channel")
        claimed = claims.get("serviceurl", claims.get("serviceUrl"))
        if not isinstance(claimed, str) or claimed != place.get("serviceUrl"):
            raise Unauthorized("another serviceUrl")
