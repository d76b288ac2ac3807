"""Who is who on Slack: rights, kinds of channels, and how long both are believed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from adapters.slack.context import Installed
from adapters.slack.people import FAILED, FRESH, FRESH_NAME, SlackPeople
from tests.adapters.slack.places import installed_in
from tests.adapters.slack.site import World
from tests.doubles.slack import SlackDouble
from tests.doubles.slack.faults import Breaks, Drops, Fails, RateLimited


class Watch:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def people(watch: Watch) -> SlackPeople:
    return SlackPeople(now=watch)


@pytest.fixture
def installed(slack: SlackDouble, world: World) -> Installed:
    return installed_in(slack, world.team.id)


@pytest.mark.parametrize(
    ("facts", "guest", "admin"),
    [
        ({}, False, False),
        ({"admin": True}, False, True),
        ({"owner": True}, False, True),
        ({"restricted": True}, True, False),
        ({"ultra_restricted": True}, True, False),
        ({"stranger": True}, True, False),
        ({"admin": True, "stranger": True}, True, False),
        ({"admin": True, "stranger": True, "team": "T0002"}, True, False),
    ],
)
async def test_rights(
    slack: SlackDouble, people: SlackPeople, installed: Installed, facts: Any, guest: bool, admin: bool
) -> None:
    slack.world.add_team("T0002", installed=False)
    user = slack.world.add_user("cleo", **facts)
    person = await people.person(installed, user.id)
    assert (person.id, person.name, person.is_bot) == (user.id, "cleo", False)
    assert (person.is_guest, person.is_admin) == (guest, admin)


async def test_an_admin_of_another_organisation_is_a_guest_here(installed: Installed) -> None:
    """By the team alone: Slack Connect does not set `is_stranger` everywhere."""
    user = {"id": "U9", "name": "zoe", "is_admin": True, "team_id": "T0009"}
    people, here = scripted(installed, user=user)
    person = await people.person(here, "U9")
    assert person.is_guest
    assert not person.is_admin


async def test_members_of_an_organisation_are_at_home_in_their_workspaces(installed: Installed) -> None:
    grid = {"enterprise_id": "E1", "teams": ["T0001", "T0005"]}
    user = {"id": "U9", "name": "zoe", "team_id": "T0005", "enterprise_user": grid}
    people, here = scripted(installed, user=user, enterprise="E1")
    assert not (await people.person(here, "U9")).is_guest
    user["enterprise_user"] = grid | {"teams": ["T0005"]}
    people, here = scripted(installed, user=user, enterprise="E1")
    assert (await people.person(here, "U9")).is_guest


async def test_another_bot_is_known_as_one(
    slack: SlackDouble, people: SlackPeople, installed: Installed
) -> None:
    assert (await people.person(installed, slack.world.add_user("ci", bot=True).id)).is_bot


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({}, "public_channel"),
        ({"kind": "private"}, "private_channel"),
        ({"kind": "mpim"}, "group"),
        ({"kind": "im"}, "direct"),
        ({"ext_shared": True}, "shared_channel"),
        ({"ext_shared": True, "kind": "private"}, "shared_channel"),
        ({"ext_shared": True, "kind": "mpim"}, "shared_channel"),
        ({"org_shared": True}, "shared_channel"),
    ],
)
async def test_kinds(
    slack: SlackDouble, world: World, people: SlackPeople, installed: Installed, facts: Any, kind: str
) -> None:
    place = slack.world.add_channel("place", world.ann, **facts)
    channel = await people.channel(installed, place.id)
    assert (channel.id, channel.kind) == (place.id, kind)
    assert channel.name == ("" if kind == "direct" else "place")


async def test_a_channel_that_is_about_to_be_shared_is_shared(installed: Installed) -> None:
    people, here = scripted(installed, channel={"id": "C9", "name": "x", "is_pending_ext_shared": True})
    assert (await people.channel(here, "C9")).kind == "shared_channel"


@pytest.mark.parametrize(
    "fault", [Fails("user_not_found"), Fails("odd"), RateLimited(600), Breaks(), Drops()], ids=str
)
async def test_what_slack_does_not_tell_is_read_narrowly(
    slack: SlackDouble, world: World, people: SlackPeople, installed: Installed, fault: Any, watch: Watch
) -> None:
    slack.faults.next("*", fault, times=20)
    with capture_logs() as logs:
        person = await people.person(installed, world.ben)
        channel = await people.channel(installed, world.general)
    assert (person.is_guest, person.is_admin, person.name) == (True, False, "")
    assert (channel.kind, channel.name) == ("shared_channel", "")
    assert [line["event"] for line in logs] == ["slack_not_told"] * 2
    slack.faults.clear()
    watch.time = FAILED
    assert (await people.person(installed, world.ben)).is_admin
    assert (await people.channel(installed, world.general)).kind == "public_channel"


async def test_an_answer_without_sense_is_read_narrowly(installed: Installed) -> None:
    people, here = scripted(installed, user=[], channel=None)
    assert (await people.person(here, "U9")).is_guest
    assert (await people.channel(here, "C9")).kind == "shared_channel"
    people, here = scripted(installed, user={"profile": [], "name": 7, "enterprise_user": 3})
    assert await people.name(here, "U9") == ""
    assert (await people.person(here, "U9")).is_guest


async def test_rights_are_believed_for_a_minute_and_names_for_ten(
    slack: SlackDouble, world: World, people: SlackPeople, installed: Installed, watch: Watch
) -> None:
    await people.person(installed, world.ben)
    await people.channel(installed, world.general)
    slack.world.users[world.ben].admin = False
    slack.world.users[world.ben].name = "benny"
    slack.world.channels[world.general].ext_shared = True
    watch.time = FRESH - 0.1
    assert (await people.person(installed, world.ben)).is_admin
    watch.time = FRESH_NAME - 0.1
    assert await people.name(installed, world.ben) == "ben"
    assert await people.channel_name(installed, world.general) == "general"
    assert len(slack.calls) == 2
    assert not (await people.person(installed, world.ben)).is_admin
    assert (await people.channel(installed, world.general)).kind == "shared_channel"
    assert await people.name(installed, world.ben) == "benny"
    assert len(slack.calls) == 4


async def test_many_ask_once(
    slack: SlackDouble, world: World, people: SlackPeople, installed: Installed
) -> None:
    found = await asyncio.gather(*(people.person(installed, world.ann) for _ in range(50)))
    assert {person.name for person in found} == {"ann"}
    assert await people.locale(installed, world.ann) == "en-US"
    assert len(slack.calls) == 1


async def test_one_who_goes_away_takes_the_answer_from_nobody(
    slack: SlackDouble, world: World, people: SlackPeople, installed: Installed
) -> None:
    first = asyncio.create_task(people.person(installed, world.ann))
    second = asyncio.create_task(people.person(installed, world.ann))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).name == "ann"
    assert len(slack.calls) == 1


async def test_what_is_known_is_apart_by_team(
    slack: SlackDouble, world: World, people: SlackPeople
) -> None:
    """Public complaint: a cache of bot ids without the tenant in its key. Also with one and the same
    client, as of an organisation, and with the same id in both teams."""
    slack.world.add_team("T0002")
    slack.world.add_user("dan", team="T0002", id="USAME")
    here, there = installed_in(slack, world.team.id), installed_in(slack, "T0002")
    assert (await people.person(there, "USAME")).name == "dan"
    assert (await people.person(here, "USAME")).name == ""
    assert await people.name(here, "USAME") == ""
    slack.world.add_channel("board", team="T0002", id="CSAME", bot=True, kind="private")
    assert (await people.channel(there, "CSAME")).name == "board"
    assert (await people.channel(here, "CSAME")).kind == "shared_channel"
    assert await people.channel_name(here, "CSAME") == ""


async def test_what_was_not_needed_longest_goes_first(slack: SlackDouble, installed: Installed) -> None:
    people = SlackPeople(size=2)
    a, b, c = (slack.world.add_user(name).id for name in ("a", "b", "c"))
    for user in (a, b, a, c, a, b):
        await people.person(installed, user)
    assert [call.args["user"] for call in slack.calls] == [a, b, c, b]


def scripted(
    installed: Installed, *, user: Any = None, channel: Any = None, enterprise: str | None = None
) -> tuple[SlackPeople, Installed]:
    """Slack as it answers with what the double's people can't be."""

    class Client:
        async def users_info(self, **_: Any) -> Any:
            return {"user": user}

        async def conversations_info(self, **_: Any) -> Any:
            return {"channel": channel}

    return SlackPeople(), replace(installed, client=cast("Any", Client()), enterprise=enterprise)


async def test_groups_are_those_that_the_person_is_in(
    slack: SlackDouble, people: SlackPeople, installed: Installed, watch: Watch
) -> None:
    ann, ben = (slack.world.add_user(name).id for name in ("ann", "ben"))
    slack.world.usergroups |= {"S1": [ann, ben], "S2": [ben], "S3": []}
    assert await people.groups(installed, ann) == ("S1",)
    assert await people.groups(installed, ben) == ("S1", "S2")
    assert len(slack.calls_of("usergroups.list")) == 1
    watch.time += FRESH_NAME + 1
    slack.faults.next("usergroups.list", Fails("missing_scope"))
    assert await people.groups(installed, ann) == ()
