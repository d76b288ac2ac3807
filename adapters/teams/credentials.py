"""Tokens with which the bot calls Teams and Microsoft Graph: with a secret, or as a managed identity."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

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


class NoToken(Exception):
    """No token is to be had; `why` is a word for the log and for `kb doctor`."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class Credentials:
    """Keeps each token until shortly before its end; one request at a time for each."""

    def __init__(self, settings: TeamsSettings, session: ClientSession) -> None:
        self._settings, self._session = settings, session
        self._tokens: dict[tuple[str, str], tuple[str, float]] = {}
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    async def token(
        self, audience: str = CONNECTOR, *, tenant: str | None = None, fresh: bool = False
    ) -> str:
        """Empty where there are no credentials. Raises `NoToken`.

        Args:
            audience: for whom, `CONNECTOR` or `GRAPH`.
            tenant: whose directory gives it; by default the bot's own.
            fresh: the one that was given before is not taken any more.
        """
        if not self._settings.app_id:
            return ""
        where = tenant or self._settings.app_tenant or _ANY_TENANT
        if self._settings.app_type == "MultiTenant" and audience == CONNECTOR:
            where = _ANY_TENANT
        key = (audience, where)
        async with self._locks.setdefault(key, asyncio.Lock()):
            token, until = self._tokens.get(key, ("", 0.0))
            if token and not fresh and time.monotonic() < until - _EARLY:
                return token
            token, seconds = await self._ask(audience, where)
            self._tokens[key] = token, time.monotonic() + max(seconds, _EARLY + 30)
            return token

    async def _ask(self, audience: str, tenant: str) -> tuple[str, float]:
        if self._settings.app_type == "UserAssignedMSI":
            return _read(await asyncio.to_thread(self._identity, audience))
        for number in range(_TRIES):
            try:
                return _read(await self._client_credentials(audience, tenant))
            except (ClientError, TimeoutError, OSError) as error:
                log.warning("teams_no_token", error=type(error).__name__, tries=number + 1)
                if number == _TRIES - 1:
                    raise NoToken(type(error).__name__) from error
                await asyncio.sleep(0.5 * 2**number)
        raise AssertionError("unreachable")

    async def _client_credentials(self, audience: str, tenant: str) -> dict[str, Any]:
        """RFC 6749, 4.4, as Entra ID has it."""
        form = {
            "grant_type": "client_credentials",
            "client_id": self._settings.app_id,
            "client_secret": self._settings.app_password or "",
            "scope": f"{audience}/.default",
        }
        url = f"{self._settings.login_url.rstrip('/')}/{tenant}/oauth2/v2.0/token"
        timeout = ClientTimeout(total=self._settings.timeout)
        async with self._session.post(url, data=form, timeout=timeout, allow_redirects=False) as answer:
            if answer.status >= 500 or answer.status == 429:
                raise ClientError(f"status {answer.status}")
            found = await answer.json(content_type=None)
        return found if isinstance(found, dict) else {}

    def _identity(self, audience: str) -> dict[str, Any]:
        """In a thread: the library blocks."""
        import requests  # msal's own client

        identity = UserAssignedManagedIdentity(client_id=self._settings.app_id)
        client = ManagedIdentityClient(identity, http_client=requests.Session())
        return client.acquire_token_for_client(resource=audience)


def _read(answer: dict[str, Any]) -> tuple[str, float]:
    token, seconds = answer.get("access_token"), answer.get("expires_in", 3600)
    if not isinstance(token, str) or not token:
        raise NoToken(str(answer.get("error") or "no readable answer")[:60])
    return token, float(seconds)
