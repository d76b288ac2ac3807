"""Tokens with which the bot calls Teams and Microsoft Graph: with a secret, or as a managed identity."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

import requests
import structlog
from aiohttp import ClientError, ClientSession, ClientTimeout
from msal import ManagedIdentityClient, UserAssignedManagedIdentity

from adapters.teams.settings import TeamsSettings

log = structlog.get_logger()

CONNECTOR: Final = "https://api.botframework.com"
GRAPH: Final = "https://graph.microsoft.com"
#: Tenant that gives tokens to bots that are not for one tenant alone.
_ANY_TENANT: Final = "botframework.com"
#: Seconds before its end at which a token is not used any more.
_EARLY: Final = 300.0
_TRIES: Final = 3
_PAUSE: Final = 0.5
#: Seconds that one asking may take.
_SECONDS: Final = 10.0
#: Seconds for which a refusal is taken as the answer of others who ask.
REFUSED: Final = 5.0


class NoToken(Exception):
    """No token is to be had; `why` is a word for the log and for `kb doctor`."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class Credentials:
    """Keeps each token until shortly before its end; one request at a time for each."""

    def __init__(
        self,
        settings: TeamsSettings,
        session: ClientSession,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._session, self._now = settings, session, now
        self._kept: dict[tuple[str, str], tuple[str, float]] = {}
        self._refusals: dict[tuple[str, str], tuple[NoToken, float]] = {}
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    async def token(
        self, audience: str = CONNECTOR, *, tenant: str | None = None, refused: str = ""
    ) -> str:
        """Empty where there are no credentials. Raises `NoToken`.

        Args:
            audience: for whom, `CONNECTOR` or `GRAPH`.
            tenant: whose directory gives it; by default the bot's own. A managed identity has no other.
            refused: a token that was given before and is not taken any more.
        """
        if not self._settings.app_id:
            return ""
        where = (tenant or self._settings.app_tenant or _ANY_TENANT).lower()
        if self._settings.app_type == "MultiTenant" and audience == CONNECTOR:
            where = _ANY_TENANT
        if self._settings.app_type == "UserAssignedMSI":
            where = ""
        key = (audience, where)
        async with self._locks.setdefault(key, asyncio.Lock()):
            token, until = self._kept.get(key, ("", 0.0))
            if token and token != refused and self._now() < until - _EARLY:
                return token
            refusal, again = self._refusals.get(key, (None, 0.0))
            if refusal is not None and self._now() < again:
                raise NoToken(refusal.why)
            try:
                token, seconds = await self._ask(audience, where)
            except NoToken as error:
                self._refusals[key] = error, self._now() + REFUSED
                raise
            self._kept[key] = token, self._now() + max(seconds, _EARLY + 30)
            return token

    async def _ask(self, audience: str, tenant: str) -> tuple[str, float]:
        for number in range(_TRIES):
            try:
                if self._settings.app_type == "UserAssignedMSI":
                    return _read(await asyncio.to_thread(self._identity, audience))
                return _read(await self._client_credentials(audience, tenant))
            except (ClientError, TimeoutError, OSError) as error:
                log.warning("teams_no_token", error=type(error).__name__, tries=number + 1)
                if number == _TRIES - 1:
                    raise NoToken(type(error).__name__) from error
                await asyncio.sleep(_PAUSE * 2**number * random.uniform(0.7, 1.3))  # noqa: S311
            except ValueError as error:  # a page instead of JSON, or no identity where this runs
                raise NoToken(type(error).__name__) from error
        raise AssertionError("unreachable")

    async def _client_credentials(self, audience: str, tenant: str) -> dict[str, Any]:
        """RFC 6749, 4.4, as Entra ID has it."""
        form = {
            "grant_type": "client_credentials",
            "client_id": self._settings.app_id,
            "client_secret": self._settings.app_password or "",
            "scope": f"{audience}/.default",
        }
        url = f"{self._settings.login_url.rstrip('/')}/{quote(tenant, safe='')}/oauth2/v2.0/token"
        timeout = ClientTimeout(total=min(_SECONDS, self._settings.timeout))
        async with self._session.post(url, data=form, timeout=timeout, allow_redirects=False) as answer:
            if answer.status >= 500 or answer.status == 429:
                raise ClientError(f"status {answer.status}")
            found = await answer.json(content_type=None)
        return found if isinstance(found, dict) else {}

    def _identity(self, audience: str) -> dict[str, Any]:
        """In a thread: the library blocks."""
        identity = UserAssignedManagedIdentity(client_id=self._settings.app_id)
        with _Session() as session:
            client = ManagedIdentityClient(identity, http_client=session)
            return client.acquire_token_for_client(resource=audience)


class _Session(requests.Session):
    """msal's own client has no time limit, and outside of Azure nobody answers."""

    def request(self, *given: Any, **named: Any) -> requests.Response:
        return super().request(*given, **{"timeout": _SECONDS, **named})


def _read(answer: dict[str, Any]) -> tuple[str, float]:
    """Raises `NoToken`, and `ValueError` for a time that is none."""
    token, seconds = answer.get("access_token"), answer.get("expires_in", 3600)
    if not isinstance(token, str) or not token:
        raise NoToken(str(answer.get("error") or "no readable answer")[:60])
    return token, float(seconds)
