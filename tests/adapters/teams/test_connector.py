"""Calls of the Bot Connector: what goes out, and what becomes of everything that comes back."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest
from aiohttp import ClientSession

from adapters.teams.activity import reference_of
from adapters.teams.connector import BotConnector
from adapters.teams.credentials import Credentials
from adapters.teams.errors import NO_PLACE, TOO_LARGE, NoEffect, NoPlace, RateLimited, TeamsError, Unclear
from adapters.teams.reference import Reference
from adapters.teams.rest import LONGEST_WAIT, Rest
from tests.adapters.teams.site import World, settings_for
from tests.doubles.teams import (
    BAD_GATEWAY,
    GATEWAY_TIMEOUT,
    PRECONDITION,
    Breaks,
    Drops,
    Expires,
    Fails,
    Hangs,
    TeamsDouble,
)
from tests.doubles.teams import RateLimited as Limits
from tests.doubles.teams.faults import Fault

TEXT = {"type": "message", "text": "Every 90 days."}
NEW = {"type": "message", "text": "Every 30 days."}


@dataclass
class Line:
    connector: BotConnector
    world: World

    @property
    def teams(self) -> TeamsDouble:
        return self.world.teams

    def place(self, conversation: str, thread: str | None = None) -> Reference:
        double = self.teams
        place, person = double.world.conversations[conversation], double.world.people[self.world.ann]
        return reference_of(double.payloads.activity("message", place, person, root=thread))

    @property
    def direct(self) -> Reference:
        return self.place(self.world.direct)

    def texts(self) -> list[str]:
        return [seen.text for seen in self.teams.answers(self.world.direct)]


@pytest.fixture
async def line(teams: TeamsDouble, world: World) -> AsyncGenerator[Line]:
    async with ClientSession() as session:
        given = settings_for(teams)
        rest = Rest(session, Credentials(given, session), given.timeout)
        yield Line(BotConnector(rest, given.app_id), world)


# -- what goes out -------------------------------------------------------------------------------------


async def test_activities_go_out_as_they_are_with_what_the_sdk_would_drop(line: Line) -> None:
    entity = {
        "type": "https://schema.org/Message",
        "@type": "Message",
        "@context": "https://schema.org",
        "@id": "",
        "additionalType": ["AIGeneratedContent"],
        "citation": [
            {
                "@type": "Claim",
                "position": 1,
                "appearance": {"@type": "DigitalDocument", "name": "Keys", "abstract": "Every 90 days."},
            }
        ],
    }
    said = {
        **TEXT,
        "text": "Every 90 days [1].",
        "textFormat": "markdown",
        "entities": [entity],
        "channelData": {"feedbackLoop": {"type": "default"}},
    }
    sent = await line.connector.send(line.direct, said)
    [call] = line.teams.calls_of("send")
    assert {name: call.body[name] for name in said} == said
    [seen] = line.teams.answers(line.world.direct)
    assert (seen.id, seen.generated, seen.asks_feedback) == (sent, True, True)
    assert seen.citations[1]["name"] == "Keys"


async def test_a_reply_hangs_on_what_it_answers_in_its_thread(line: Line) -> None:
    world = line.world
    root = line.teams.say(world.general, world.ann, f"{world.at} How often?")
    place = line.place(world.general, root)
    sent = await line.connector.send(place, {**TEXT, "replyToId": root})
    [seen] = line.teams.answers(world.general, root)
    assert (seen.id, seen.root, seen.reply_to) == (sent, root, root)
    await line.connector.update(place, sent, NEW)
    [seen] = line.teams.answers(world.general, root)
    assert (seen.text, seen.edits) == ("Every 30 days.", 1)
    await line.connector.delete(place, sent)
    assert line.teams.answers(world.general, root) == []
    assert line.teams.refusals == []


async def test_members_of_a_thread_are_those_of_its_channel(line: Line) -> None:
    world = line.world
    root = line.teams.say(world.general, world.ann, f"{world.at} How often?")
    user = line.teams.world.people[world.ben].user
    member = await line.connector.member(line.place(world.general, root), user)
    assert (member["name"], member["aadObjectId"]) == ("Ben Ito", world.ben)


async def test_the_chat_with_a_person_is_made_once_however_often_it_is_asked_for(line: Line) -> None:
    world = line.world
    user = line.teams.world.people[world.ben].user
    line.teams.world.personal(world.ben)
    line.teams.faults.next("create", Drops(effect=True), Breaks(effect=True, status=500))
    first = await line.connector.personal(line.place(world.general), user)
    second = await line.connector.personal(line.place(world.general), user)
    assert first == second
    assert first.direct
    await line.connector.send(first, TEXT)
    assert [seen.text for seen in line.teams.answers(first.conversation)] == ["Every 90 days."]


# -- what comes back -----------------------------------------------------------------------------------

AGAIN = [PRECONDITION, BAD_GATEWAY, GATEWAY_TIMEOUT]


@pytest.mark.parametrize("fault", [*AGAIN, Limits(0), Expires()], ids=repr)
@pytest.mark.parametrize("call", ["send", "update", "delete", "member", "create"])
async def test_what_had_no_effect_is_tried_again(line: Line, call: str, fault: Fault) -> None:
    sent = await line.connector.send(line.direct, TEXT)
    line.teams.faults.next(call, fault)
    await act(line, call, sent)
    expected = {"send": ["Every 90 days.", "Every 30 days."], "update": ["Every 30 days."], "delete": []}
    assert line.texts() == expected.get(call, ["Every 90 days."])


async def act(line: Line, call: str, sent: str) -> None:
    connector, direct = line.connector, line.direct
    user = line.teams.world.people[line.world.ann].user
    match call:
        case "send":
            await connector.send(direct, NEW)
        case "update":
            await connector.update(direct, sent, NEW)
        case "delete":
            await connector.delete(direct, sent)
        case "member":
            await connector.member(direct, user)
        case _:
            await connector.personal(direct, user)


MAYBE = [
    Drops(), Drops(effect=True), Breaks(status=500), Breaks(effect=True, status=500),
    Breaks(status=502), Breaks(effect=True, status=502), Breaks(effect=True, status=504),
    Fails(500), Fails(503),
]  # fmt: skip


@pytest.mark.parametrize("fault", MAYBE, ids=repr)
async def test_a_post_that_may_have_had_its_effect_is_not_made_twice(line: Line, fault: Fault) -> None:
    line.teams.faults.next("send", fault)
    effect = isinstance(fault, Drops | Breaks) and fault.effect
    with pytest.raises(Unclear) as caught:
        await line.connector.send(line.direct, TEXT)
    assert not isinstance(caught.value, NoEffect)
    assert len(line.texts()) == effect
    assert len(line.teams.calls_of("send")) == 1


@pytest.mark.parametrize("fault", MAYBE, ids=repr)
@pytest.mark.parametrize("call", ["update", "member", "create"])
async def test_what_can_be_done_twice_is(line: Line, call: str, fault: Fault) -> None:
    sent = await line.connector.send(line.direct, TEXT)
    line.teams.faults.next(call, fault, None, fault)
    await act(line, call, sent)
    await act(line, call, sent)
    assert line.texts() == (["Every 30 days."] if call == "update" else ["Every 90 days."])


@pytest.mark.parametrize("fault", [*AGAIN, *MAYBE], ids=repr)
async def test_tries_have_an_end(line: Line, fault: Fault) -> None:
    sent = await line.connector.send(line.direct, TEXT)
    line.teams.faults.next("update", fault, times=50)
    with pytest.raises(Unclear):
        await line.connector.update(line.direct, sent, NEW)
    # The client itself tries once more where a connection that it had kept is gone.
    assert len(line.teams.faults._script["update"]) >= 50 - 2 * 4  # pyright: ignore[reportPrivateUsage]


async def test_a_long_wait_is_left_to_the_caller(line: Line) -> None:
    wait = int(LONGEST_WAIT) + 1
    line.teams.faults.next("send", Limits(wait))
    with pytest.raises(RateLimited) as caught:
        await line.connector.send(line.direct, TEXT)
    assert caught.value.seconds == wait
    assert line.texts() == []


async def test_being_told_to_wait_again_and_again_ends(line: Line) -> None:
    line.teams.faults.next("send", Limits(0), times=50)
    with pytest.raises(RateLimited):
        await line.connector.send(line.direct, TEXT)
    assert len(line.teams.calls_of("send")) == 4


@pytest.mark.parametrize("code", sorted(NO_PLACE))
async def test_a_place_that_is_gone_is_told_as_that(line: Line, code: str) -> None:
    line.teams.faults.next("send", Fails(404 if code.endswith("NotFound") else 403, code))
    with pytest.raises(NoPlace) as caught:
        await line.connector.send(line.direct, TEXT)
    assert caught.value.code == code
    assert len(line.teams.calls_of("send")) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [(403, "ContentStreamNotAllowed"), (404, "NotFound"), (400, "BadSyntax"), (409, ""), (501, "None")],
)
async def test_other_refusals_are_final_and_no_lost_place(line: Line, status: int, code: str) -> None:
    line.teams.faults.next("send", Fails(status, code))
    with pytest.raises(TeamsError) as caught:
        await line.connector.send(line.direct, TEXT)
    assert not isinstance(caught.value, NoPlace)
    assert (caught.value.status, caught.value.code) == (status, code)
    assert len(line.teams.calls_of("send")) == 1


@pytest.mark.parametrize("fault", [Fails(413, TOO_LARGE), Fails(413), Breaks(status=413)], ids=repr)
async def test_what_is_too_large_is_told_as_that_whoever_refuses_it(line: Line, fault: Fault) -> None:
    line.teams.faults.next("send", fault)
    with pytest.raises(TeamsError) as caught:
        await line.connector.send(line.direct, TEXT)
    assert caught.value.code == TOO_LARGE


async def test_a_token_that_is_refused_is_replaced_once(line: Line) -> None:
    line.teams.faults.next("send", Fails(401, "Unauthorized"), times=9)
    with pytest.raises(TeamsError) as caught:
        await line.connector.send(line.direct, TEXT)
    assert caught.value.status == 401
    assert line.teams.login.requests == ["connector", "connector"]
    assert len(line.teams.calls_of("send")) == 2


async def test_a_token_that_is_refused_at_the_last_try_is_nothing_final(line: Line) -> None:
    line.teams.faults.next("send", BAD_GATEWAY, BAD_GATEWAY, BAD_GATEWAY, Expires())
    with pytest.raises(NoEffect):
        await line.connector.send(line.direct, TEXT)
    assert await line.connector.send(line.direct, TEXT)


async def test_without_a_token_nothing_is_called(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.teams.credentials._PAUSE", 0.0)
    line.teams.app.password = "another"
    with pytest.raises(NoEffect, match="invalid_client"):
        await line.connector.send(line.direct, TEXT)
    assert line.teams.calls == []


async def test_an_answer_that_does_not_come_is_waited_for_in_vain_once(
    teams: TeamsDouble, world: World
) -> None:
    async with ClientSession() as session:
        rest = Rest(session, Credentials(settings_for(teams), session), timeout=0.3)
        line = Line(BotConnector(rest, teams.app_id), world)
        await line.connector.headers()
        teams.faults.next("send", Hangs(effect=True))
        with pytest.raises(Unclear):
            await line.connector.send(line.direct, TEXT)
        assert line.texts() == ["Every 90 days."]
