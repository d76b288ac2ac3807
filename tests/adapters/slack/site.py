"""The adapter as it runs: the bolt app on a real server, the inbox on a real Valkey, the strict Slack."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from redis.asyncio import Redis

from adapters.conversation import Conversation, Message
from adapters.ports import Bot
from adapters.slack import work
from adapters.slack.app import SlackAdapter
from adapters.slack.settings import SlackSettings
from bot.inbox import InboxStore
from bot.transcript import TranscriptStore
from tests.adapters.running import give_stores, listening, settled
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
        await settled(self.slack.outbox.deliver, self.inbox, work.PLATFORM, work.DOCUMENTS)

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
    bot = bot or ScriptedBot()
    inbox, transcript = give_stores(bot, redis)
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
    async with AsyncExitStack() as stack:
        url = f"{await stack.enter_async_context(listening(adapter.routes()))}/slack/events"
        if serve:
            await stack.enter_async_context(adapter.running())
        slack.outbox.url = url
        try:
            yield Site(slack, bot, adapter, inbox, transcript, url)
        finally:
            slack.outbox.url = None
