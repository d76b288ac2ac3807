"""The Slack adapter, put together: one bolt app behind Socket Mode, HTTP, or both."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import structlog
from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from adapters.ports import Bot
from adapters.slack import (
    commands,
    feedback,
    greet,
    home,
    listen,
    passage,
    reply_menu,
    settings_modal,
    uninstall,
    upload_modal,
    work,
)
from adapters.slack.clients import InstalledClients, StaticClients
from adapters.slack.context import Clients, NotInstalled, Slack
from adapters.slack.encryption import Encryption
from adapters.slack.http import slack_routes
from adapters.slack.installations import Installations
from adapters.slack.oauth import oauth_routes
from adapters.slack.people import SlackPeople
from adapters.slack.settings import SlackSettings
from adapters.slack.socket import SocketMode
from adapters.slack.states import States
from adapters.slack.threads import Threads
from adapters.slack.worker import handler

log = structlog.get_logger()


class SlackAdapter:
    """Give `routes` to the server, and keep `running` open."""

    def __init__(self, bot: Bot, settings: SlackSettings, *, spool: Path) -> None:
        self._settings = settings
        self._routes: list[web.RouteDef] = []
        self._clients: StaticClients | InstalledClients = StaticClients(settings)
        installations: Installations | None = None
        if settings.client_id is not None:
            encryption = Encryption(settings.token_keys)
            installations = Installations(bot.notes, encryption)
            self._clients = InstalledClients(installations, settings, bot.notes)
            self._routes += oauth_routes(installations, States(bot.notes, encryption), settings)
        self.slack = Slack(bot, self._clients, SlackPeople(), settings, spool)
        self._threads = Threads(self.slack)
        self.app = AsyncApp(
            name="footnote",
            signing_secret=settings.signing_secret or "",
            authorize=_authorize(self._clients),
        )
        if installations is not None:
            uninstall.register(self.app, installations)
        # Of the listeners of one event the first that fits is run: the Home tab's before the greeting's.
        surfaces = (commands, home, settings_modal, upload_modal, feedback, passage, reply_menu)
        for part in (*surfaces, greet):
            part.register(self.app, self.slack)
        listen.register(self.app, self.slack, self._threads)
        # Without a signing secret Socket Mode is the only way in.
        if settings.signing_secret is not None:
            self._routes += slack_routes(self.app, settings)

    def routes(self) -> list[web.RouteDef]:
        return list(self._routes)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Work the inbox, and listen where Socket Mode is set up. Raises `Refused` where Slack does not
        take the tokens."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._clients)
            handle, inbox = handler(self.slack, self._threads), self.slack.bot.inbox
            for queue in (work.PLATFORM, work.DOCUMENTS):
                serving = inbox.serve(queue, handle, concurrency=self._settings.concurrency)
                await stack.enter_async_context(serving)
            if self._settings.app_token:
                await stack.enter_async_context(SocketMode(self.app, self._settings))
            log.info("slack_ready", socket_mode=bool(self._settings.app_token))
            yield


def _authorize(clients: Clients) -> Any:
    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
        """None where the app is not installed: bolt then drops the request."""
        try:
            installed = await clients.of(team_id or "", enterprise_id)
        except NotInstalled:
            log.warning("slack_not_installed", team=team_id)
            return None
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_token=installed.client.token,
            bot_id=installed.bot_id,
            bot_user_id=installed.bot_user,
        )

    return authorize
