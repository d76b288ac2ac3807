"""Graph knows a team by its group, and not every activity tells it: the connector is asked, once a team."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from adapters.teams.context import Connector, Graph, Json
from adapters.teams.errors import NoGraph, TeamsError, Unclear, reason_of
from adapters.teams.reference import Reference

_SIZE: Final = 5_000


class GroupGraph:
    """A `Graph` that learns the group where the reference does not have it."""

    def __init__(self, graph: Graph, connector: Connector) -> None:
        self._graph, self._connector = graph, connector
        self._groups: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def replies(self, reference: Reference, *, limit: int = 200) -> list[Json]:
        return await self._graph.replies(await self._known(reference), limit=limit)

    async def chat(self, reference: Reference, *, limit: int = 50) -> list[Json]:
        return await self._graph.chat(reference, limit=limit)

    async def owners(self, reference: Reference) -> frozenset[str]:
        return await self._graph.owners(await self._known(reference))

    async def content(self, reference: Reference, path: str) -> tuple[str, dict[str, str]]:
        return await self._graph.content(reference, path)

    async def _known(self, reference: Reference) -> Reference:
        if reference.team is None or reference.team_group:
            return reference
        key = (reference.tenant, reference.team)
        group = self._groups.get(key)
        if group is None:
            try:
                group = str((await self._connector.team(reference)).get("aadGroupId") or "")
            except (TeamsError, Unclear) as error:
                raise NoGraph(f"the team's group is not told: {reason_of(error)}") from error
            if not group:
                raise NoGraph("the team's group is not told")
            self._groups[key] = group
            while len(self._groups) > _SIZE:
                self._groups.popitem(last=False)
        return reference.model_copy(update={"team_group": group})
