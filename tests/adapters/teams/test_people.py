"""Who people are, and what they may: as Teams tells it, and narrowly where it doesn't."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from aiohttp import ClientSession

from adapters.conversation import Person
from adapters.teams.activity import reference_of
from adapters.teams.connector import BotConnector
from adapters.teams.context import Connector, Graph
from adapters.teams.credentials import Credentials
from adapters.teams.errors import NoGraph, NoPlace, RateLimited, TeamsError, Unclear
from adapters.teams.graph import GraphClient
from adapters.teams.people import FAILED, FRESH, TeamsPeople
from adapters.teams.reference import Reference
from adapters.teams.rest import Rest
from tests.adapters.teams.site import World, settings_for
from tests.doubles.teams import Fails

TEAM = Reference(
    service_url="https://smba.example/",
    tenant="t-1",
    conversation="19:c@thread.tacv2;messageid=1",
    kind="private_channel",
    bot="28:app",
    team="19:c@thread.tacv2",
    team_group="g-1",
)
CHAT = TEAM.model_copy(update={"conversation": "a:1", "kind": "direct", "team": None, "team_group": None})
ANN: dict[str, Any] = {
    "id": "29:ann",
    "name": "Ann Lee",
    "aadObjectId": "aad-ann",
    "tenantId": "t-1",
    "userRole": "user",
    "userPrincipalName": "ann@contoso.example",
}


@dataclass
class Tells:
    """A roster and a Graph that say what a test wants."""

    member_is: dict[str, Any] | Exception = field(default_factory=lambda: dict(ANN))
    owners_are: frozenset[str] | Exception = frozenset()
    asked: int = 0
    gate: asyncio.Event | None = None

    async def member(self, _reference: Reference, _user: str) -> dict[str, Any]:
        self.asked += 1
        if self.gate is not None:
            await self.gate.wait()
        return _given(self.member_is)

    async def owners(self, _reference: Reference) -> frozenset[str]:
        return _given(self.owners_are)


def _given(value: Any) -> Any:
    if isinstance(value, Exception):
        raise value
    return value


def people(tells: Tells, *admins: str, **more: Any) -> TeamsPeople:
    return TeamsPeople(cast("Connector", tells), cast("Graph", tells), frozenset(admins), **more)


async def test_a_person_is_who_teams_says() -> None:
    found = await people(Tells()).person(TEAM, "29:ann", aad="claimed", name="Claimed")
    assert found == Person(id="aad-ann", name="Ann Lee")


@pytest.mark.parametrize(
    "other",
    [
        {"userRole": "guest"}, {"userRole": "Guest"}, {"userRole": "anonymous"}, {"tenantId": "t-2"},
        {"userPrincipalName": "ann_fabrikam.example#EXT#@contoso.example"},
        {"userPrincipalName": "ann_fabrikam.example#ext#@contoso.example"},
    ],
    ids=str,
)  # fmt: skip
async def test_people_of_elsewhere_are_guests_and_no_admins(other: dict[str, Any]) -> None:
    tells = Tells(member_is={**ANN, **other}, owners_are=frozenset({"aad-ann"}))
    for found in (
        await people(tells).person(TEAM, "29:ann"),
        await people(tells, "aad-ann").person(TEAM, "29:ann"),
    ):
        assert (found.is_guest, found.is_admin) == (True, False)


@pytest.mark.parametrize(
    "failure",
    [
        Unclear("lost"), RateLimited(60), TeamsError(404, "MemberNotFoundInConversation"), TeamsError(401),
        NoPlace(403, "BotNotInConversationRoster"), {}, {"name": "Ann Lee"},
    ],
    ids=repr,
)  # fmt: skip
async def test_what_teams_does_not_tell_narrows(failure: dict[str, Any] | Exception) -> None:
    tells = Tells(member_is=failure, owners_are=frozenset({"aad-ann"}))
    found = await people(tells, "aad-ann").person(TEAM, "29:ann", aad="aad-ann", name="Ann")
    assert found == Person(id="aad-ann", name="Ann", is_guest=True)


async def test_admins_are_those_on_the_list_however_it_is_written() -> None:
    listed = people(Tells(member_is={**ANN, "aadObjectId": "AAD-Ann"}), "aad-ann")
    assert (await listed.person(TEAM, "29:ann")).is_admin
    assert (await listed.person(CHAT, "29:ann")).is_admin


async def test_without_a_list_owners_are_admins_in_their_team() -> None:
    tells = Tells(owners_are=frozenset({"aad-ann"}))
    assert (await people(tells).person(TEAM, "29:ann")).is_admin
    assert not (await people(tells).person(CHAT, "29:ann")).is_admin


async def test_with_a_list_owners_are_no_admins() -> None:
    """Everybody can make a team and own it, and settings are those of the whole tenant."""
    tells = Tells(owners_are=frozenset({"aad-ann"}))
    assert not (await people(tells, "aad-ben").person(TEAM, "29:ann")).is_admin


@pytest.mark.parametrize("failure", [NoGraph("status 403"), TimeoutError()], ids=repr)
async def test_owners_that_graph_does_not_tell_are_no_admins(failure: Exception) -> None:
    found = await people(Tells(owners_are=failure)).person(TEAM, "29:ann")
    assert found == Person(id="aad-ann", name="Ann Lee")


async def test_rights_are_kept_for_a_minute_and_failures_for_seconds() -> None:
    now = 0.0
    tells = Tells()
    asking = people(tells, now=lambda: now)

    async def guest() -> bool:
        return (await asking.person(TEAM, "29:ann")).is_guest

    assert not await guest()
    tells.member_is = {**ANN, "userRole": "guest"}
    now = FRESH - 1
    assert not await guest()
    now = FRESH + 1
    assert await guest()
    tells.member_is = Unclear("lost")
    now = 2 * FRESH + 2
    assert await guest()
    tells.member_is = ANN
    now += FAILED - 1
    assert await guest()
    now += 2
    assert not await guest()
    assert tells.asked == 4


async def test_many_who_ask_at_once_ask_once_even_when_one_goes_away() -> None:
    tells = Tells(gate=asyncio.Event())
    asking = people(tells)
    waiting = [asyncio.create_task(asking.person(TEAM, "29:ann")) for _ in range(20)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    assert tells.gate is not None
    tells.gate.set()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert {cast("Person", one).name for one in results[1:]} == {"Ann Lee"}
    assert tells.asked == 1


async def test_the_same_id_in_another_tenant_or_conversation_is_somebody_else() -> None:
    tells = Tells()
    asking = people(tells)
    await asking.person(TEAM, "29:ann")
    tells.member_is = {**ANN, "name": "Another"}
    for elsewhere in (CHAT, TEAM.model_copy(update={"tenant": "t-2"})):
        assert (await asking.person(elsewhere, "29:ann")).name == "Another"
    assert (await asking.person(TEAM.in_thread("7"), "29:ann")).name == "Ann Lee"


async def test_not_more_people_are_kept_than_asked_for() -> None:
    tells = Tells()
    asking = people(tells, size=2)
    for user in ("29:a", "29:b", "29:a", "29:c", "29:a"):
        await asking.person(TEAM, user)
    assert tells.asked == 3


# -- as Teams has it -----------------------------------------------------------------------------------


@pytest.fixture
async def real(world: World) -> AsyncGenerator[Callable[..., TeamsPeople]]:
    async with ClientSession() as session:
        given = settings_for(world.teams)
        credentials = Credentials(given, session)
        connector = BotConnector(Rest(session, credentials, given.timeout), given.app_id)
        graph = GraphClient(given, session, credentials)
        yield lambda *admins: TeamsPeople(connector, graph, frozenset(admins))


async def test_people_of_a_team_as_teams_tells_them(world: World, real: Callable[..., TeamsPeople]) -> None:
    double = world.teams
    guest = double.world.add_person("Cy Gu", guest=True)
    double.world.teams[world.general].members[guest.aad] = "guest"
    double.world.teams[world.general].rsc = True
    asking = real()

    async def person(aad: str) -> Person:
        who = double.world.people[aad]
        place = double.world.conversations[world.general]
        reference = reference_of(double.payloads.activity("message", place, who))
        return await asking.person(reference, who.user, aad=who.aad)

    assert await person(world.ann) == Person(id=world.ann, name="Ann Lee")
    assert await person(world.ben) == Person(id=world.ben, name="Ben Ito", is_admin=True)
    assert await person(guest.aad) == Person(id=guest.aad, name="Cy Gu", is_guest=True)
    assert double.refusals == []


async def test_without_consent_nobody_is_an_admin_by_owning_a_team(
    world: World, real: Callable[..., TeamsPeople]
) -> None:
    double = world.teams
    double.faults.next("member", Fails(502, "BadGateway"))
    who, place = double.world.people[world.ben], double.world.conversations[world.general]
    reference = reference_of(double.payloads.activity("message", place, who))
    assert await real().person(reference, who.user) == Person(id=world.ben, name="Ben Ito")
    assert (await real(world.ben).person(reference, who.user)).is_admin
