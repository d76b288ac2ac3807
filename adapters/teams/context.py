"""What every part of this adapter needs: the bot, the connector, and who is who."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from adapters.conversation import Person
from adapters.ports import Actor, Bot
from adapters.teams.reference import Reference
from adapters.teams.settings import TeamsSettings

Json = dict[str, Any]


class Connector(Protocol):
    """The Bot Connector's calls. Activities are plain JSON objects of the Bot Framework's REST API.

    A call is tried again by itself only where it can't have had an effect (412, 429, 502, 504 within a
    bounded wait, no connection). Each raises what `adapters.teams.errors` names.
    """

    async def send(self, reference: Reference, activity: Json, *, once: bool = False) -> str:
        """Gives the id of the new activity; empty where Teams names none.

        Args:
            once: a courtesy, which is not tried again.
        """
        ...

    async def update(
        self, reference: Reference, activity_id: str, activity: Json, *, once: bool = False
    ) -> None: ...

    async def delete(self, reference: Reference, activity_id: str) -> None: ...

    async def member(self, reference: Reference, user: str) -> Json:
        """As `GET /v3/conversations/{id}/members/{user}` tells it."""
        ...

    async def team(self, reference: Reference) -> Json:
        """As `GET /v3/teams/{team}` tells of the reference's team."""
        ...

    async def headers(self) -> dict[str, str]:
        """With the bot's token, for a picture that the connector keeps; empty without credentials."""
        ...

    async def personal(self, reference: Reference, user: str) -> Reference:
        """The chat with that person alone, made where there is none (`POST /v3/conversations`)."""
        ...


class People(Protocol):
    """Names and rights, asked of Teams and kept for a while."""

    async def person(self, reference: Reference, user: str, *, aad: str = "", name: str = "") -> Person:
        """Who that is; where Teams does not tell, a guest without rights.

        Args:
            user: the id in that conversation, "29:…".
            aad: id in the tenant's directory, where the activity told it: `Person.id` then.
        """
        ...


class Graph(Protocol):
    """Microsoft Graph, where a team or a chat consented. Each raises `adapters.teams.errors.NoGraph`
    where nothing can be had: not set up, no consent, or no answer in time."""

    async def replies(self, reference: Reference, *, limit: int = 200) -> list[Json]:
        """The root and the replies of the reference's thread as Graph's `chatMessage`, oldest first."""
        ...

    async def chat(self, reference: Reference, *, limit: int = 50) -> list[Json]:
        """The newest messages of a chat as Graph's `chatMessage`, oldest first."""
        ...

    async def owners(self, reference: Reference) -> frozenset[str]:
        """Directory ids of the owners of the reference's team."""
        ...

    async def content(self, reference: Reference, path: str) -> tuple[str, dict[str, str]]:
        """Address and headers with which a file of Graph's can be fetched."""
        ...


@dataclass(frozen=True)
class Teams:
    """Given to every part of this adapter."""

    bot: Bot
    connector: Connector
    people: People
    graph: Graph
    settings: TeamsSettings
    #: For files on their way.
    spool: Path

    async def workspace(self, reference: Reference) -> str:
        return await self.bot.workspaces.of("teams", reference.tenant)

    async def actor(self, reference: Reference, user: str, *, aad: str = "", name: str = "") -> Actor:
        return Actor(
            workspace=await self.workspace(reference),
            person=await self.people.person(reference, user, aad=aad, name=name),
            conversation=reference.neutral(),
        )


@dataclass(frozen=True)
class InvokeAnswer:
    """What an invoke is answered with: the HTTP status, and JSON or nothing as the body."""

    status: int = 200
    body: Json | None = None


class Receiver(Protocol):
    async def receive(self, activity: Json) -> InvokeAnswer | None:
        """One authenticated activity. When it returns, what is to be done survives a killed process.

        Gives an answer for an `invoke`, and None for everything else."""
        ...
