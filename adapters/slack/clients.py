"""Clients of Slack's Web API, one a team."""

from __future__ import annotations

import asyncio

from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.context import Installed, NotInstalled
from adapters.slack.errors import NO_TOKEN, code_of
from adapters.slack.settings import SlackSettings

#: Times that a call which Slack refuses for now is sent again, after as long as Slack says.
_LATER = 2


def make_client(token: str | None, settings: SlackSettings) -> AsyncWebClient:
    """Waits as told by a 429, which has no effect. Nothing else is sent twice here: a call that ends
    without an answer may have had its effect, and only who made it knows how to find out."""
    return AsyncWebClient(
        token=token,
        base_url=settings.api_url,
        timeout=round(settings.timeout),
        retry_handlers=[AsyncRateLimitErrorRetryHandler(max_retry_count=_LATER)],
    )


class StaticClients:
    """One workspace, whose bot token the environment holds. Implements `adapters.slack.context.Clients`."""

    def __init__(self, settings: SlackSettings) -> None:
        self._client = make_client(settings.bot_token, settings)
        self._installed: Installed | None = None
        self._lock = asyncio.Lock()

    async def of(self, team: str, enterprise: str | None = None) -> Installed:
        """Raises `NotInstalled` for another team than the token's, and `SlackApiError`."""
        known = await self.own()
        if team != known.team and (known.enterprise is None or enterprise != known.enterprise):
            raise NotInstalled(team)
        return known

    async def own(self) -> Installed:
        """The team of the token, asked of Slack once."""
        async with self._lock:
            if self._installed is None:
                self._installed = await identify(self._client)
            return self._installed


async def identify(client: AsyncWebClient) -> Installed:
    """Whose token it is. Raises `NotInstalled` for one that holds no more."""
    try:
        told = await client.auth_test()
    except SlackApiError as error:
        if code_of(error) in NO_TOKEN:
            raise NotInstalled(code_of(error)) from error
        raise
    return Installed(
        client=client,
        team=str(told["team_id"]),
        bot_user=str(told["user_id"]),
        bot_id=str(told.get("bot_id") or ""),
        enterprise=told.get("enterprise_id"),
        app_id=told.get("app_id"),
    )
