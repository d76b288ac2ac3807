"""What every part of this adapter needs: the bot, the clients, and who is who."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from slack_sdk.web.async_client import AsyncWebClient

from adapters.conversation import Conversation, ConversationKind, Person
from adapters.ports import Actor, Bot
from adapters.slack.settings import SlackSettings


class NotInstalled(Exception):
    """The app is not (any more) installed in that team, or its token was revoked."""


@dataclass(frozen=True)
class Installed:
    """The app in one team. `client` carries the team's bot token, timeouts and retries."""

    client: AsyncWebClient
    team: str
    bot_user: str
    bot_id: str
    enterprise: str | None = None
    app_id: str | None = None


class Clients(Protocol):
    async def of(self, team: str, enterprise: str | None = None) -> Installed:
        """Raises `NotInstalled`."""
        ...


@dataclass(frozen=True)
class Channel:
    """What Slack tells about a conversation. A failure to read it gives the narrowest reading."""

    id: str
    kind: ConversationKind
    name: str = ""


class People(Protocol):
    """Names and rights, asked of Slack and kept for a while."""

    async def person(self, installed: Installed, user: str) -> Person:
        """Who that is. Where Slack does not tell: a guest without a name and without rights."""
        ...

    async def name(self, installed: Installed, user: str) -> str:
        """For showing only: it may be ten minutes old. Empty where Slack does not tell."""
        ...

    async def channel_name(self, installed: Installed, channel: str) -> str:
        """For showing only, as `name`."""
        ...

    async def groups(self, installed: Installed, user: str) -> tuple[str, ...]:
        """Ids of the user groups that the person is in; none where Slack does not tell."""
        ...

    async def locale(self, installed: Installed, user: str) -> str | None:
        """The person's language as an IETF tag."""
        ...

    async def channel(self, installed: Installed, channel: str) -> Channel:
        """A "D…" is direct; what Slack does not tell is taken as shared with others."""
        ...


@dataclass(frozen=True)
class Slack:
    """Given to every listener and worker of this adapter."""

    bot: Bot
    clients: Clients
    people: People
    settings: SlackSettings
    #: For files on their way.
    spool: Path

    async def workspace(self, installed: Installed) -> str:
        return await self.bot.workspaces.of("slack", installed.team)

    async def conversation(
        self, installed: Installed, channel: str, *, thread: str | None = None
    ) -> Conversation:
        known = await self.people.channel(installed, channel)
        return Conversation(
            platform="slack",
            tenant=installed.team,
            id=channel,
            kind=known.kind,
            name=known.name,
            thread=thread,
        )

    async def actor(
        self, installed: Installed, user: str, channel: str | None, *, thread: str | None = None
    ) -> Actor:
        """Who does something, and where. Without a channel (App Home): with the bot alone."""
        person = await self.people.person(installed, user)
        if channel is None:
            conversation = Conversation(platform="slack", tenant=installed.team, id=user, kind="direct")
        else:
            conversation = await self.conversation(installed, channel, thread=thread)
        return Actor(workspace=await self.workspace(installed), person=person, conversation=conversation)
