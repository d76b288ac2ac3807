"""Places of the stand-in for Teams: who may write there, how often, and what is told of them."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.adapters.teams.small_bot import Bot, Json, bot, teams
from tests.doubles.teams import (
    BAD_GATEWAY,
    GATEWAY_TIMEOUT,
    PRECONDITION,
    Breaks,
    Drops,
    Expires,
    Hangs,
    RateLimited,
    Slow,
    TeamsDouble,
)

__all__ = ["bot", "teams"]


SAYS: Json = {"type": "message", "text": "x"}


@pytest.fixture
def ana(teams: TeamsDouble) -> str:
    return teams.world.add_person("Ana Ruiz").aad


@pytest.fixture
def ben(teams: TeamsDouble) -> str:
    return teams.world.add_person("Ben", guest=True).aad


@pytest.fixture
def direct(teams: TeamsDouble, ana: str) -> str:
    return teams.world.personal(ana).id


def code(answer: tuple[int, Any]) -> tuple[int, str]:
    return answer[0], answer[1]["error"]["code"]


async def test_a_post_in_a_channel_opens_a_thread(teams: TeamsDouble, bot: Bot, ana: str) -> None:
    channel = teams.world.add_team("Support", ana).id
    post = teams.say(channel, ana, "Who knows?")
    thread = f"{channel};messageid={post}"
    assert (await bot.send(thread, text="I do"))[0] == 201
    status, answer = await bot.send(channel, text="News")
    assert status == 201
    assert [one.text for one in teams.shown(channel, post)] == ["Who knows?", "I do"]
    assert [one.text for one in teams.shown(channel, answer["id"])] == ["News"]
    path = f"conversations/{thread}/activities/{post}"
    assert (await bot.call("POST", path, SAYS))[0] == 201


async def test_refuses_places_that_are_none(teams: TeamsDouble, bot: Bot, direct: str, ana: str) -> None:
    channel = teams.world.add_team("Support", ana).id
    post = teams.say(channel, ana, "Who knows?")
    reply = teams.say(channel, ana, "Me", thread=post)
    for place in (
        "a:nobody",
        f"{direct};messageid=1",
        f"{channel};messageid=1",
        f"{channel};messageid={reply}",
        f"{channel};x=1",
    ):
        assert code(await bot.send(place, text="x")) == (404, "ConversationNotFound")


@pytest.mark.parametrize(
    "blocked",
    [
        "BotNotInConversationRoster",
        "BotDisabledByAdmin",
        "ConversationBlockedByUser",
        "ForbiddenOperationException",
    ],
)
async def test_refuses_where_it_is_blocked(teams: TeamsDouble, bot: Bot, direct: str, blocked: str) -> None:
    teams.world.conversations[direct].blocked = blocked
    assert code(await bot.send(direct, text="x")) == (403, blocked)
    assert teams.refusals == []  # how things stand
    assert teams.calls_of("send")[0].error == blocked


async def test_a_block_has_words_of_its_own(teams: TeamsDouble, bot: Bot, direct: str, ana: str) -> None:
    teams.world.conversations[direct].blocked = "MessageWritesBlocked"
    status, answer = await bot.send(direct, text="x")
    assert status == 403
    assert "error" not in answer
    assert '"subCode": "MessageWritesBlocked"' in answer["message"]
    teams.world.conversations[direct].blocked = None
    teams.uninstall(direct, ana)
    assert (await bot.send(direct, text="x"))[0] == 403
    channel = teams.world.add_team("Support", ana, installed=False).id
    assert code(await bot.send(channel, text="x")) == (403, "BotNotInConversationRoster")
    told = await bot.call("GET", f"conversations/{channel}/members")
    assert code(told) == (403, "BotNotInConversationRoster")


async def test_changes_its_own_messages_only(teams: TeamsDouble, bot: Bot, direct: str, ana: str) -> None:
    asked = teams.ask(ana, "hi")
    path, gone = f"conversations/{direct}/activities", (404, "ActivityNotFoundInConversation")
    for method, body in (("PUT", SAYS), ("DELETE", None)):
        assert code(await bot.call(method, f"{path}/{asked}", body)) == (403, "NotEnoughPermissions")
        assert code(await bot.call(method, f"{path}/1", body)) == gone
    assert code(await bot.call("POST", f"{path}/1", SAYS)) == gone
    assert code(await bot.send(direct, text="x", replyToId="1")) == gone
    mine = (await bot.send(direct, text="x", replyToId=asked))[1]["id"]
    assert code(await bot.call("PUT", f"{path}/{mine}", {"type": "message"})) == (400, "BadSyntax")
    assert code(await bot.call("PUT", f"{path}/{mine}", {"type": "typing"})) == (400, "BadSyntax")
    assert len(teams.refusals) == 8
    teams.remove(direct, mine)
    assert code(await bot.call("PUT", f"{path}/{mine}", SAYS)) == gone
    assert len(teams.refusals) == 8  # nobody told the bot


async def test_calls_that_come_too_fast(teams: TeamsDouble, bot: Bot, direct: str) -> None:
    statuses = [(await bot.send(direct, text="x"))[0] for _ in range(8)]
    assert statuses == [201] * 7 + [429]
    teams.clock.advance(1)
    statuses = [(await bot.send(direct, text="x"))[0] for _ in range(3)]
    assert statuses == [201, 429, 429]
    teams.clock.advance(2)
    for _ in range(52):
        teams.clock.advance(0.5)
        assert (await bot.send(direct, text="x"))[0] == 201
    assert (await bot.send(direct, text="x"))[0] == 429
    assert len(teams.refusals) == 4
    teams.rules.rates = False
    assert {(await bot.send(direct, text="x"))[0] for _ in range(20)} == {201}


async def test_rates_say_when_to_come_again(teams: TeamsDouble, bot: Bot, direct: str) -> None:
    headers = {"Authorization": f"Bearer {bot.token}"}
    url = f"{teams.url}v3/conversations/{direct}/activities"
    for _ in range(7):
        assert (await bot.send(direct, SAYS))[0] == 201
    async with bot.session.post(url, json=SAYS, headers=headers) as response:
        assert (response.status, response.headers.get("Retry-After")) == (429, "1")


async def test_the_roster(teams: TeamsDouble, bot: Bot, ana: str, ben: str) -> None:
    world = teams.world
    team = world.add_team("Support", ben, owners=(ana,))
    private = world.add_channel("hr", team.id, ana, kind="private")
    members = (await bot.call("GET", f"conversations/{team.id}/members"))[1]
    assert [(one["aadObjectId"], one["userRole"]) for one in members] == [(ben, "guest"), (ana, "user")]
    [member] = (await bot.call("GET", f"conversations/{private.id}/members"))[1]
    assert member["aadObjectId"] == ana
    for id in (ana, world.people[ana].user, world.people[ana].email):
        status, one = await bot.call("GET", f"conversations/{private.id}/members/{id}")
        assert (status, one["name"], one["givenName"]) == (200, "Ana Ruiz", "Ana")
    assert code(await bot.call("GET", f"conversations/{private.id}/members/{ben}"))[0] == 404
    told = (await bot.call("GET", f"teams/{team.id}"))[1]
    assert (told["aadGroupId"], told["channelCount"]) == (team.group, 2)
    channels = (await bot.call("GET", f"teams/{team.id}/conversations"))[1]["conversations"]
    assert [one.get("name") for one in channels] == [None, "hr"]
    assert code(await bot.call("GET", "teams/none")) == (404, "TeamNotFound")
    teams.uninstall(team.id, ana)
    assert code(await bot.call("GET", f"teams/{team.id}")) == (403, "BotNotInConversationRoster")
    assert (await bot.call("GET", "attachments/none/views/original"))[0] == 404


async def test_a_long_roster_comes_in_pages(teams: TeamsDouble, bot: Bot) -> None:
    people = [teams.world.add_person(f"P{number}").aad for number in range(120)]
    path = f"conversations/{teams.world.add_chat('All', *people).id}/pagedmembers?pageSize=50"
    found: list[str] = []
    token = ""
    while True:
        page = (await bot.call("GET", f"{path}{token}"))[1]
        found += [one["aadObjectId"] for one in page["members"]]
        if "continuationToken" not in page:
            break
        token = f"&continuationToken={page['continuationToken']}"
    assert found == people
    assert code(await bot.call("GET", f"{path}&continuationToken=x"))[0] == 400


async def test_opens_a_chat_with_a_person(teams: TeamsDouble, bot: Bot, ana: str) -> None:
    tenant, user = teams.world.first_tenant, teams.world.people[ana].user
    body: Json = {"bot": {"id": teams.app.bot}, "members": [{"id": user}], "tenantId": tenant}
    status, made = await bot.call("POST", "conversations", body)
    assert (status, made["id"]) == (201, teams.world.personal(ana).id)
    status, made = await bot.call("POST", "conversations", body | {"activity": SAYS})
    assert (status, teams.shown(made["id"])[0].id) == (201, made["activityId"])
    for wrong, expected in (
        ({"tenantId": "x"}, (400, "BadSyntax")),
        ({"members": []}, (400, "BadSyntax")),
        ({"isGroup": True}, (400, "BadSyntax")),
        ({"members": [{"id": "29:nobody"}]}, (404, "UserNotFound")),
        ({"bot": {"id": "28:other"}}, (403, "InvalidBot")),
    ):
        teams.clock.advance(2)
        assert code(await bot.call("POST", "conversations", body | wrong)) == expected
    assert code(await bot.call("POST", "conversations", [])) == (400, "BadSyntax")
    teams.uninstall(made["id"], ana)
    assert code(await bot.call("POST", "conversations", body)) == (403, "ForbiddenOperationException")


async def test_people_of_other_tenants_are_not_there(teams: TeamsDouble, bot: Bot, ana: str) -> None:
    other = teams.world.add_tenant("Fabrikam").id
    zoe = teams.world.add_person("Zoe", tenant=other)
    body: Json = {"members": [{"id": zoe.user}], "tenantId": teams.world.first_tenant}
    assert code(await bot.call("POST", "conversations", body)) == (404, "UserNotFound")
    team = teams.world.add_team("Support", ana)
    shared = teams.world.add_channel("joint", team.id, ana, zoe.aad, kind="shared")
    one = (await bot.call("GET", f"conversations/{shared.id}/members/{zoe.user}"))[1]
    assert (one["tenantId"], one["userRole"]) == (other, "guest")


async def test_faults_by_script(teams: TeamsDouble, bot: Bot, direct: str) -> None:
    teams.faults.next("send", PRECONDITION, BAD_GATEWAY, GATEWAY_TIMEOUT, RateLimited(None), Expires())
    for status in (412, 502, 504, 429, 401):
        assert (await bot.send(direct, text="x"))[0] == status
    bot.token = teams.login.give("connector")
    assert (await bot.send(direct, text="x"))[0] == 201
    assert len(teams.shown(direct)) == 1
    for effect in (False, True):
        for fault in (Breaks(effect), Drops(effect)):
            teams.faults.next("send", fault)
            before = len(teams.shown(direct))
            with pytest.raises((aiohttp.ClientError, ValueError)):
                await bot.send(direct, text="x")
            assert len(teams.shown(direct)) == before + effect
    teams.faults.next("send", Hangs(effect=True))
    with pytest.raises(TimeoutError):
        await bot.call(
            "POST",
            f"conversations/{direct}/activities",
            SAYS,
            timeout=aiohttp.ClientTimeout(total=0.05),
        )
    teams.faults.next("send", Slow(0.0))
    assert (await bot.send(direct, text="x"))[0] == 201
    assert teams.refusals == []


async def test_faults_at_random_come_again_with_the_seed(teams: TeamsDouble, bot: Bot, direct: str) -> None:
    teams.rules.rates = False
    runs: list[list[int]] = []
    for _ in range(2):
        teams.faults.at_random(7, (0.3, BAD_GATEWAY), (0.2, RateLimited()), only=frozenset({"send"}))
        runs.append([(await bot.send(direct, text="x"))[0] for _ in range(30)])
    assert runs[0] == runs[1]
    assert set(runs[0]) == {201, 429, 502}
    teams.faults.clear()
    assert (await bot.send(direct, text="x"))[0] == 201
