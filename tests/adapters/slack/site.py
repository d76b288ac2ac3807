"""The adapter as it runs: the bolt app on a real server, the inbox on a real Valkey, the strict Slack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from aiohttp import web
from redis.asyncio import Redis

from adapters.conversation import Conversation, Message
from adapters.ports import Bot
from adapters.slack import work
from adapters.slack.app import SlackAdapter
from adapters.slack.settings import SlackSettings
from bot.inbox import InboxStore
from bot.notes import NoteStore
from bot.transcript import TranscriptStore
from tests.adapters.scripted import ScriptedBot
from tests.doubles.slack import Seen, SlackDouble


@dataclass
class Site:
    slack: SlackDouble
    bot: ScriptedBot
    adapter: SlackAdapter
    inbox: InboxStore
    transcript: TranscriptStore
    #: Where the app listens.
    url: str

    async def settle(self) -> None:
        """Until everything that people did is told and worked."""
        async with asyncio.timeout(30):
            while True:
                await self.slack.outbox.deliver()
                if not any([await self.inbox.waiting(queue) for queue in (work.PLATFORM, work.DOCUMENTS)]):
                    return
                await asyncio.sleep(0.005)

    async def ask(self, channel: str, user: str, text: str, thread: str | None = None) -> str:
        """Say something and wait for what comes of it. Gives its ts."""
        ts = self.slack.say(channel, user, text, thread)
        await self.settle()
        return ts

    def replies(self, channel: str, thread: str) -> list[Seen]:
        """What the bot has posted in a thread."""
        return [seen for seen in self.slack.replies(channel, thread) if seen.by_bot]

    async def history(self, channel: str, thread: str, team: str = "T0001") -> list[Message]:
        conversation = Conversation(
            platform="slack", tenant=team, id=channel, kind="public_channel", thread=thread
        )
        return await self.transcript.recent(conversation)


@dataclass
class World:
    """The people and places of most tests."""

    slack: SlackDouble

    def __post_init__(self) -> None:
        world = self.slack.world
        self.team = world.add_team()
        self.ann = world.add_user("ann").id
        self.ben = world.add_user("ben", admin=True).id
        self.general = world.add_channel("general", self.ann, self.ben).id
        self.direct = world.dm(self.ann).id
        self.mention = f"<@{self.team.bot_user}>"


@asynccontextmanager
async def open_site(
    redis: Redis,
    slack: SlackDouble,
    spool: Path,
    *,
    bot: ScriptedBot | None = None,
    serve: bool = True,
    **settings: Any,
) -> AsyncGenerator[Site]:
    """`serve=False`: events are accepted, and nobody works them."""
    inbox, transcript = InboxStore(redis, tick=0.02), TranscriptStore(redis)
    bot = bot or ScriptedBot()
    ports = {"inbox": inbox, "notes": NoteStore(redis), "transcript": transcript}
    for name, port in ports.items():
        setattr(bot, name, port)
    given = replace(
        SlackSettings(
            bot_token=f"xoxb-{slack.world.first_team}",
            signing_secret=slack.app.signing_secret,
            api_url=slack.api_url,
            timeout=5.0,
            checked=True,
        ),
        **settings,
    )
    adapter = SlackAdapter(cast("Bot", bot), given, spool=spool)
    application = web.Application()
    application.add_routes(adapter.routes())
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    async with AsyncExitStack() as stack:
        stack.push_async_callback(runner.cleanup)
        if serve:
            await stack.enter_async_context(adapter.running())
        slack.outbox.url = url
        try:
            yield Site(slack, bot, adapter, inbox, transcript, url)
        finally:
            slack.outbox.url = None
