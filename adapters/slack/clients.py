"""Web API clients: how they try again, and which token a team's client carries."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import time
from typing import Any, Final, Self, cast
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

import structlog
from aiohttp import ClientError, ClientSession, ClientTimeout
from slack_sdk.errors import SlackApiError, SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from adapters.durable import Notes
from adapters.slack.checked import CheckedClient
from adapters.slack.context import Installed, NotInstalled
from adapters.slack.errors import NO_TOKEN, code_of
from adapters.slack.installations import Installations, note_name
from adapters.slack.retries import ConnectRetry, RateLimitRetry, ReadRetry
from adapters.slack.settings import SlackSettings

log = structlog.get_logger()

#: Tries after the first one, of either kind.
RETRIES: Final = 3
#: The same for reads that were answered with 5xx, or not at all.
READ_RETRIES: Final = 2
#: Seconds to open a connection.
_CONNECT: Final = 10.0
#: Seconds before it expires that a token is renewed; Slack's tokens live 12 hours.
_RENEW_BEFORE: Final = 2 * 3600
#: Seconds that renewing a token may take in all.
_RENEW_WITHIN: Final = 60
#: What Slack says to a refresh token that is of no use any more.
_SPENT: Final = NO_TOKEN | {"invalid_refresh_token", "bad_client_secret", "invalid_client_id"}


def make_client(
    token: str | None, settings: SlackSettings, session: ClientSession | None = None
) -> AsyncWebClient:
    """A client that waits out rate limits and unreachable networks, and reads again after a 5xx.

    After a write that was answered with 5xx, or not at all, the caller has to judge: it may have had its
    effect. Without `session`, each call opens a connection.
    """
    kind = CheckedClient if settings.checked else AsyncWebClient
    client = kind(
        token=token,
        base_url=settings.api_url,
        timeout=max(1, round(settings.timeout)),
        session=session,
        retry_handlers=[RateLimitRetry(RETRIES), ConnectRetry(RETRIES), ReadRetry(READ_RETRIES)],
    )
    if client.proxy and proxy_bypass(urlsplit(settings.api_url).hostname or ""):
        client.proxy = None  # the SDK reads HTTPS_PROXY and overlooks NO_PROXY
    return client


class _Shared:
    """Connections are shared and kept while the context is open."""

    def __init__(self, settings: SlackSettings) -> None:
        self._settings = settings
        self._session: ClientSession | None = None
        self._made: dict[str, Installed] = {}

    async def __aenter__(self) -> Self:
        timeout = ClientTimeout(total=self._settings.timeout, sock_connect=_CONNECT)
        self._session = ClientSession(timeout=timeout)
        self._made.clear()
        return self

    async def __aexit__(self, *_: object) -> None:
        session, self._session = self._session, None
        self._made.clear()
        if session is not None:
            await session.close()

    def _client(self, token: str | None) -> AsyncWebClient:
        return make_client(token, self._settings, self._session)


class StaticClients(_Shared):
    """One bot token from the environment, for one team or for all teams of an organisation."""

    def __init__(self, settings: SlackSettings) -> None:
        super().__init__(settings)
        self._asking = asyncio.Lock()
        self._organisation = False

    async def of(self, team: str, enterprise: str | None = None) -> Installed:
        """Raises `NotInstalled` for another team, or when Slack does not take the token (any more)."""
        async with self._asking:
            mine = self._made.get("") or await self._ask()
        if self._organisation:
            if enterprise is not None and enterprise != mine.enterprise:
                raise NotInstalled(f"The bot token belongs to another organisation than {enterprise}.")
            return replace(mine, team=team or mine.team)
        # An event of an organisation may name it alone.
        if (team and team != mine.team) or (not team and enterprise != mine.enterprise):
            raise NotInstalled(f"The bot token belongs to another team than {team or enterprise}.")
        return mine

    async def _ask(self) -> Installed:
        client = self._client(self._settings.bot_token)
        try:
            found = cast("Any", await client.auth_test())
        except SlackApiError as error:
            if (code := code_of(error)) in NO_TOKEN:
                raise NotInstalled(f"Slack does not take the bot token: {code}.") from error
            raise
        self._organisation = bool(found.get("is_enterprise_install"))
        self._made[""] = mine = Installed(
            client=client,
            team=str(found.get("team_id") or ""),
            bot_user=str(found.get("user_id") or ""),
            bot_id=str(found.get("bot_id") or ""),
            enterprise=found.get("enterprise_id"),
            app_id=found.get("app_id"),
        )
        return mine


class InstalledClients(_Shared):
    """The token of each team's installation, renewed before it expires.

    The store is read each time, so that an installation that was removed or renewed by another process
    is seen at once; clients are kept by token.
    """

    def __init__(self, installations: Installations, settings: SlackSettings, notes: Notes) -> None:
        super().__init__(settings)
        self._installations = installations
        self._notes = notes
        self._renewing: dict[str, asyncio.Task[Bot]] = {}

    async def __aexit__(self, *error: object) -> None:
        await asyncio.gather(*self._renewing.values(), return_exceptions=True)
        await super().__aexit__(*error)

    async def of(self, team: str, enterprise: str | None = None) -> Installed:
        """Raises `NotInstalled`."""
        bot = await self._find(enterprise, team, org=not team)
        if bot is None and enterprise and team:
            bot = await self._find(enterprise, None, org=True)
        if bot is None:
            raise NotInstalled(f"The app is not installed in {team or enterprise}.")
        if _expires_within(bot, _RENEW_BEFORE):
            bot = await self._renewed(bot)
        return self._installed(bot, team)

    async def _find(self, enterprise: str | None, team: str | None, *, org: bool) -> Bot | None:
        bot = await self._installations.async_find_bot(
            enterprise_id=enterprise, team_id=team or None, is_enterprise_install=org
        )
        return bot if bot is not None and bot.bot_token else None

    def _installed(self, bot: Bot, team: str) -> Installed:
        key = f"{bot.enterprise_id or ''}/{bot.team_id or ''}"
        made = self._made.get(key)
        if made is None or made.client.token != bot.bot_token:
            made = Installed(
                client=self._client(bot.bot_token),
                team=bot.team_id or "",
                bot_user=bot.bot_user_id or "",
                bot_id=bot.bot_id or "",
                enterprise=bot.enterprise_id,
                app_id=bot.app_id,
            )
            self._made[key] = made
        return replace(made, team=team) if team and team != made.team else made

    async def _renewed(self, seen: Bot) -> Bot:
        """A task of its own, for all who wait: when one of them is cancelled, a token that Slack has
        given is kept nevertheless."""
        name = note_name(seen.enterprise_id, None if _org(seen) else seen.team_id)
        task = self._renewing.get(name)
        if task is None:
            task = self._renewing[name] = asyncio.create_task(self._renew(name, seen))
            task.add_done_callback(lambda done: self._done(name, done))
        return await asyncio.shield(task)

    def _done(self, name: str, task: asyncio.Task[Bot]) -> None:
        self._renewing.pop(name, None)
        if not task.cancelled():
            task.exception()  # told to those who wait; nobody may

    async def _renew(self, name: str, seen: Bot) -> Bot:
        """A refresh token works once: one process renews and writes it down, the others wait for that."""
        try:
            async with self._notes.lock(f"renewing:{name}", seconds=_RENEW_WITHIN + 30):
                bot = await self._again(seen)
                return await self._exchanged(bot) if _expires_within(bot, _RENEW_BEFORE) else bot
        except (SlackTokenRotationError, ClientError, TimeoutError, OSError) as error:
            return _still(await self._again(seen), error)

    async def _exchanged(self, bot: Bot) -> Bot:
        rotator = AsyncTokenRotator(
            client_id=self._settings.client_id or "",
            client_secret=self._settings.client_secret or "",
            client=self._client(None),
        )
        async with asyncio.timeout(_RENEW_WITHIN):
            new = await rotator.perform_bot_token_rotation(
                bot=bot, minutes_before_expiration=_RENEW_BEFORE // 60
            )
        if new is None:
            return _still(bot, None)
        if not await self._installations.renew(bot, new):
            return await self._again(bot)
        log.info("slack_token_renewed", team=bot.team_id, enterprise=bot.enterprise_id)
        return new

    async def _again(self, seen: Bot) -> Bot:
        """As it is kept now. Raises `NotInstalled` when it was removed meanwhile."""
        org = _org(seen)
        bot = await self._find(seen.enterprise_id, None if org else seen.team_id, org=org)
        if bot is None:
            raise NotInstalled(f"The app was removed from {seen.team_id or seen.enterprise_id}.")
        return bot


def _org(bot: Bot) -> bool:
    return bool(bot.is_enterprise_install)


def _still(bot: Bot, error: Exception | None) -> Bot:
    """The token that could not be renewed, while it lasts; then `NotInstalled`, or what went wrong."""
    cause = error.api_error if isinstance(error, SlackTokenRotationError) else None
    code = code_of(cause) if cause is not None else type(error).__name__
    log.warning("slack_token_not_renewed", team=bot.team_id, enterprise=bot.enterprise_id, code=code)
    if not _expires_within(bot, 0):
        return bot
    if error is None or code in _SPENT:
        raise NotInstalled(f"The token of {bot.team_id or bot.enterprise_id} can't be renewed.") from error
    raise cause or error


def _expires_within(bot: Bot, seconds: int) -> bool:
    expires = bot.bot_token_expires_at
    return expires is not None and expires <= time() + seconds
