"""Who the people of a conversation are. Implements `adapters.teams.context.People`.

Kept for a minute in this process, by tenant and conversation; a failure to tell for seconds only. What
Teams does not tell is read as narrowly as can be.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

import structlog

from adapters.conversation import Person
from adapters.remembered import Remembered
from adapters.teams.context import Connector, Graph
from adapters.teams.errors import NoGraph, TeamsError, Unclear, reason_of
from adapters.teams.reference import Reference

log = structlog.get_logger()

#: Seconds for which rights are taken as true, and for which a failure to tell is.
FRESH: Final = 60.0
FAILED: Final = 5.0
_SIZE: Final = 20_000
#: Ask Graph for owners at most that long: a question waits.
_PATIENCE: Final = 3.0
#: Seconds that Teams is asked for a member, in all.
_LONGEST: Final = 15.0
_STRANGE: Final = frozenset({"guest", "anonymous"})


class TeamsPeople:
    def __init__(
        self,
        connector: Connector,
        graph: Graph,
        admins: frozenset[str],
        *,
        now: Callable[[], float] = time.monotonic,
        size: int = _SIZE,
    ) -> None:
        """`size` is how many people are kept.

        Args:
            admins: directory ids in small letters; without any, owners are admins in their team.
        """
        self._connector, self._graph, self._admins = connector, graph, admins
        self._known = Remembered[tuple[str, str, str], dict[str, Any]](now, size=size, failed=FAILED)

    async def person(self, reference: Reference, user: str, *, aad: str = "", name: str = "") -> Person:
        member = await self._member(reference, user)
        if member is None:
            return Person(id=aad or user, name=name, is_guest=True)
        directory = str(member.get("aadObjectId") or member.get("objectId") or aad)
        guest = _is_guest(member, reference)
        return Person(
            id=directory or user,
            name=str(member.get("name") or name),
            is_bot=user == reference.bot,
            is_guest=guest,
            is_admin=not guest and await self._is_admin(reference, directory),
        )

    async def _is_admin(self, reference: Reference, directory: str) -> bool:
        if not directory:
            return False
        if self._admins:
            # In most organisations everybody can make a team and own it, and settings are the tenant's.
            return directory.lower() in self._admins
        if reference.team is None:
            return False
        try:
            async with asyncio.timeout(_PATIENCE):
                return directory in await self._graph.owners(reference)
        except (NoGraph, TimeoutError):
            return False

    async def _member(self, reference: Reference, user: str) -> dict[str, Any] | None:
        key = (reference.tenant, reference.channel, user)
        return await self._known.get(key, FRESH, lambda: self._ask(reference, user))

    async def _ask(self, reference: Reference, user: str) -> dict[str, Any] | None:
        member: dict[str, Any] | None = None
        try:
            async with asyncio.timeout(_LONGEST):
                member = await self._connector.member(reference, user)
        except (TeamsError, Unclear, TimeoutError) as error:
            log.warning("teams_member_not_told", error=reason_of(error))
        return member if member and member.get("id") else None


def _is_guest(member: dict[str, Any], reference: Reference) -> bool:
    role = str(member.get("userRole") or "").lower()
    home = str(member.get("tenantId") or reference.tenant)
    name = str(member.get("userPrincipalName") or "")
    return role in _STRANGE or home.lower() != reference.tenant.lower() or "#ext#" in name.lower()
