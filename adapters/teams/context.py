"""What every part of this adapter needs: the bot, the connector, and where a conversation is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from adapters.conversation import Conversation, ConversationKind, Person
from adapters.ports import Actor, Bot
from adapters.teams.settings import TeamsSettings


class Reference(BaseModel):
    """Where to answer: all that a later call needs, as plain data that can be kept."""

    model_config = ConfigDict(frozen=True)

    service_url: str
    tenant: str
    #: With `;messageid=` where the conversation is a thread of a channel.
    conversation: str
    kind: ConversationKind
    #: The bot's own id there, e.g. "28:app-id".
    bot: str
    bot_name: str = ""
    #: Team (its group id) where the conversation is a channel.
    team: str | None = None
    #: Name of the channel or chat, where Teams told it.
    name: str = ""
    locale: str | None = None

    @property
    def channel(self) -> str:
        """The conversation without its thread."""
        return self.conversation.split(";", 1)[0]

    @property
    def thread(self) -> str | None:
        """The message that the thread hangs on, in a channel; None elsewhere."""
        _, _, rest = self.conversation.partition(";messageid=")
        return rest or None


class ConnectorError(Exception):
    """Teams refused a call. `status` is HTTP's, `code` is Teams'; 0 and "" where no answer came."""

    def __init__(
        self, status: int, code: str = "", message: str = "", retry_after: float | None = None
    ) -> None:
        self.status, self.code, self.retry_after = status, code, retry_after
        super().__init__(f"{status} {code}: {message[:200]}")


class Connector(Protocol):
    """The Bot Connector's calls. Each raises `ConnectorError`; none that may have had an effect is repeated.

    Activities are plain JSON objects of the Bot Framework's REST API.
    """

    async def send(
        self, reference: Reference, activity: dict[str, Any], *, reply_to: str | None = None
    ) -> str:
        """Gives the id of the new activity."""
        ...

    async def update(self, reference: Reference, activity_id: str, activity: dict[str, Any]) -> None: ...

    async def delete(self, reference: Reference, activity_id: str) -> None: ...

    async def member(self, reference: Reference, person: str) -> dict[str, Any]:
        """As `GET /v3/conversations/{id}/members/{person}` tells."""
        ...


class People(Protocol):
    async def person(self, reference: Reference, user: str, name: str = "") -> Person:
        """Who that is; where Teams does not tell, a guest without rights."""
        ...


@dataclass(frozen=True)
class Teams:
    """Given to every listener and worker of this adapter."""

    bot: Bot
    connector: Connector
    people: People
    settings: TeamsSettings
    #: For files on their way.
    spool: Path

    async def workspace(self, reference: Reference) -> str:
        return await self.bot.workspaces.of("teams", reference.tenant)

    def conversation(self, reference: Reference) -> Conversation:
        return Conversation(
            platform="teams",
            tenant=reference.tenant,
            id=reference.channel,
            kind=reference.kind,
            name=reference.name,
            thread=reference.thread,
        )

    async def actor(self, reference: Reference, user: str, name: str = "") -> Actor:
        return Actor(
            workspace=await self.workspace(reference),
            person=await self.people.person(reference, user, name),
            conversation=self.conversation(reference),
        )
