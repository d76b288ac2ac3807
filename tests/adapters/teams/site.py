"""The adapter as it runs: its endpoint on a real server, the inbox on a real Valkey, the strict Teams."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from redis.asyncio import Redis

from adapters.conversation import Conversation, Message
from adapters.ports import Bot
from adapters.teams import work
from adapters.teams.app import TeamsAdapter
from adapters.teams.settings import TeamsSettings
from bot.inbox import InboxStore
from bot.transcript import TranscriptStore
from tests.adapters.running import give_stores, listening, settled
from tests.adapters.scripted import ScriptedBot
from tests.doubles.teams import Seen, TeamsDouble


@dataclass
class Site:
    teams: TeamsDouble
    bot: ScriptedBot
    adapter: TeamsAdapter
    inbox: InboxStore
    transcript: TranscriptStore
    #: Where the bot listens.
    url: str

    async def settle(self) -> None:
        """Until everything that people did is told and worked."""
        await settled(self.teams.outbox.deliver, self.inbox, work.PLATFORM, work.DOCUMENTS)

    async def ask(self, conversation: str, person: str, text: str, thread: str | None = None) -> str:
        """Say something and wait for what comes of it. Gives its id."""
        message = self.teams.say(conversation, person, text, thread=thread)
        await self.settle()
        return message

    def answers(self, conversation: str, thread: str | None = None) -> list[Seen]:
        return self.teams.answers(conversation, thread)

    async def history(self, conversation: str, thread: str | None = None) -> list[Message]:
        place = self.teams.world.conversations[conversation]
        neutral = Conversation(
            platform="teams", tenant=place.tenant, id=place.id, kind="private_channel", thread=thread
        )
        return await self.transcript.recent(neutral)


@dataclass
class World:
    """The people and places of most tests."""

    teams: TeamsDouble

    def __post_init__(self) -> None:
        world = self.teams.world
        self.tenant = world.first_tenant
        self.ann = world.add_person("Ann Lee").aad
        self.ben = world.add_person("Ben Ito").aad
        self.team = world.add_team("Support", self.ann, owners=(self.ben,))
        self.general = self.team.id
        self.group = world.add_chat("Lunch", self.ann, self.ben).id
        self.direct = world.personal(self.ann).id
        self.at = self.teams.at_bot


def settings_for(teams: TeamsDouble, **more: Any) -> TeamsSettings:
    given = TeamsSettings(
        app_id=teams.app_id,
        app_password=teams.app_password,
        openid_metadata_url=teams.openid_url,
        login_url=teams.login_url,
        graph_url=teams.graph_url,
        file_origin=teams.base,
        timeout=5.0,
    )
    return replace(given, **more)


@asynccontextmanager
async def open_site(
    redis: Redis,
    teams: TeamsDouble,
    spool: Path,
    *,
    bot: ScriptedBot | None = None,
    **settings: Any,
) -> AsyncGenerator[Site]:
    bot = bot or ScriptedBot()
    inbox, transcript = give_stores(bot, redis)
    adapter = TeamsAdapter(cast("Bot", bot), settings_for(teams, **settings), spool=spool)
    async with AsyncExitStack() as stack:
        url = f"{await stack.enter_async_context(listening(adapter.routes()))}/api/messages"
        await stack.enter_async_context(adapter.running())
        teams.outbox.url = url
        try:
            yield Site(teams, bot, adapter, inbox, transcript, url)
        finally:
            teams.outbox.url = None
