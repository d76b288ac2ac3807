"""What people do in the stand-in for Teams, and what a bot hears of it."""

from __future__ import annotations

import asyncio

import pytest

from tests.adapters.teams.small_bot import Bot, Json, bot, teams
from tests.doubles.teams import CannotAct, TeamsDouble
from tests.doubles.teams.things import Conversation, Person, Team

__all__ = ["bot", "teams"]


@pytest.fixture
def ana(teams: TeamsDouble) -> Person:
    return teams.world.add_person("Ana")


@pytest.fixture
def team(teams: TeamsDouble, ana: Person) -> Team:
    return teams.world.add_team("Support", ana.aad)


@pytest.fixture
def chat(teams: TeamsDouble, ana: Person) -> Conversation:
    return teams.world.add_chat("Lunch", ana.aad)


async def told(teams: TeamsDouble, bot: Bot) -> list[Json]:
    await teams.outbox.settled()
    heard, bot.told[:] = list(bot.told), []
    return heard


async def test_a_post_and_a_reply(teams: TeamsDouble, bot: Bot, ana: Person, team: Team) -> None:
    post = teams.say(team.id, ana.aad, f"{teams.at_bot} who is <@{ana.aad}>?")
    [first] = await told(teams, bot)
    assert first["conversation"] == {
        "id": f"{team.id};messageid={post}",
        "isGroup": True,
        "conversationType": "channel",
        "tenantId": team.tenant,
    }
    assert first["text"] == "<at>Footnote</at> who is <at>Ana</at>?"
    mentions = [one for one in first["entities"] if one["type"] == "mention"]
    assert [one["mentioned"]["id"] for one in mentions] == [teams.app.bot, ana.user]
    data = first["channelData"]
    assert data["team"] == {"id": team.id, "name": "Support", "aadGroupId": team.group}
    assert data["channel"] == {"id": team.id, "name": "General", "type": "standard"}
    assert data["tenant"] == {"id": team.tenant}
    assert first["from"] == {"id": ana.user, "name": "Ana", "aadObjectId": ana.aad}

    reply = teams.say(team.id, ana.aad, f"{teams.at_bot} please", thread=post)
    [second] = await told(teams, bot)
    assert (second["id"], second["conversation"]["id"]) == (reply, f"{team.id};messageid={post}")
    with pytest.raises(CannotAct):
        teams.say(team.id, ana.aad, "x", thread=reply)

    teams.rules.suffix_on_posts = teams.rules.group_in_activities = False
    teams.say(team.id, ana.aad, f"{teams.at_bot} new")
    [third] = await told(teams, bot)
    assert third["conversation"]["id"] == team.id
    assert third["channelData"]["team"] == {"id": team.id}


async def test_who_does_not_name_the_bot_is_heard_by_consent_only(
    teams: TeamsDouble, bot: Bot, ana: Person, team: Team, chat: Conversation
) -> None:
    private = teams.world.add_channel("hr", team.id, ana.aad, kind="private")
    for place in (team.id, private.id, chat.id):
        teams.say(place, ana.aad, "to nobody")
    assert await told(teams, bot) == []
    team.rsc = chat.rsc = True
    for place in (team.id, private.id, chat.id):
        teams.say(place, ana.aad, "to nobody")
    heard = await told(teams, bot)
    assert [one["conversation"]["conversationType"] for one in heard] == ["channel", "channel", "groupChat"]
    assert heard[1]["channelData"]["channel"]["type"] == "private"
    teams.say_as_other_bot(chat.id, "beep")
    assert await told(teams, bot) == []
    assert [one.text for one in teams.shown(chat.id)] == ["to nobody", "to nobody", "beep"]


async def test_strangers_say_nothing(teams: TeamsDouble, team: Team) -> None:
    ben = teams.world.add_person("Ben")
    with pytest.raises(CannotAct):
        teams.say(team.id, ben.aad, "hi")


async def test_changing_what_was_said(
    teams: TeamsDouble, bot: Bot, ana: Person, chat: Conversation
) -> None:
    asked = teams.say(chat.id, ana.aad, f"{teams.at_bot} one")
    teams.edit(chat.id, asked, f"{teams.at_bot} two")
    teams.delete(chat.id, asked)
    assert teams.shown(chat.id) == []
    teams.undelete(chat.id, asked)
    await teams.outbox.settled()
    heard = {one["channelData"].get("eventType", one["type"]): one for one in await told(teams, bot)}
    assert set(heard) == {"message", "editMessage", "softDeleteMessage", "undeleteMessage"}
    assert {one["id"] for one in heard.values()} == {asked}
    assert heard["editMessage"]["text"] == "<at>Footnote</at> two"
    assert heard["editMessage"]["type"] == heard["undeleteMessage"]["type"] == "messageUpdate"
    assert heard["softDeleteMessage"]["type"] == "messageDelete"
    assert "text" not in heard["softDeleteMessage"]
    [shown] = teams.shown(chat.id)
    assert (shown.edits, shown.by_bot) == (1, False)
    with pytest.raises(CannotAct):
        teams.undelete(chat.id, asked)


async def test_a_mention_that_is_added_later_is_heard(
    teams: TeamsDouble, bot: Bot, ana: Person, chat: Conversation
) -> None:
    asked = teams.say(chat.id, ana.aad, "one")
    teams.edit(chat.id, asked, f"{teams.at_bot} one")
    [heard] = await told(teams, bot)
    assert heard["type"] == "messageUpdate"


async def test_coming_and_going(teams: TeamsDouble, bot: Bot, ana: Person) -> None:
    direct = teams.world.personal(ana.aad)
    teams.install(direct.id, ana.aad)
    first, second = await told(teams, bot)
    assert {first["type"], second["type"]} == {"installationUpdate", "conversationUpdate"}
    made = first if first["type"] == "installationUpdate" else second
    joined = second if made is first else first
    assert made["action"] == "add"
    assert joined["membersAdded"] == [{"id": teams.app.bot, "name": "Footnote"}]
    teams.install(direct.id, ana.aad, upgrade=True)
    [upgraded] = await told(teams, bot)
    assert upgraded["action"] == "add-upgrade"
    teams.uninstall(direct.id, ana.aad)
    assert {one["type"] for one in await told(teams, bot)} == {"installationUpdate", "conversationUpdate"}
    teams.ask(ana.aad, "still there?")
    assert await told(teams, bot) == []


async def test_a_person_joins(teams: TeamsDouble, bot: Bot, ana: Person, team: Team) -> None:
    ben = teams.world.add_person("Ben")
    teams.join(team.id, ben.aad)
    [heard] = await told(teams, bot)
    assert heard["membersAdded"][0]["id"] == ben.user
    teams.say(team.id, ben.aad, "hello")


async def test_files(teams: TeamsDouble, bot: Bot, ana: Person, team: Team) -> None:
    report = teams.world.add_file("report.pdf", b"%PDF").id
    chart = teams.world.add_file("chart.png", b"png").id
    teams.ask(ana.aad, "read this", files=[report], pasted=[chart])
    [heard] = await told(teams, bot)
    file, picture, copy = heard["attachments"]
    assert file["contentType"] == "application/vnd.microsoft.teams.file.download.info"
    assert (file["name"], file["content"]["fileType"]) == ("report.pdf", "pdf")
    async with bot.session.get(file["content"]["downloadUrl"]) as response:
        assert await response.read() == b"%PDF"
    assert copy["contentType"] == "text/html"

    async def status(url: str, token: str | None = None) -> int:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with bot.session.get(url, headers=headers) as response:
            return response.status

    assert await status(picture["contentUrl"], bot.token) == 200
    assert await status(picture["contentUrl"]) == 401
    assert await status(file["content"]["downloadUrl"], bot.token) == 401  # a token leaks
    assert await status(file["content"]["downloadUrl"] + "x") == 401
    assert len(teams.refusals) == 3
    teams.clock.advance(3601)
    assert await status(file["content"]["downloadUrl"]) == 401
    teams.ask(ana.aad, "again", files=[report])
    [heard] = await told(teams, bot)
    teams.world.files[report].gone = True
    assert await status(heard["attachments"][0]["content"]["downloadUrl"]) == 404
    assert len(teams.refusals) == 3

    teams.say(team.id, ana.aad, f"{teams.at_bot} add", files=[chart])
    [heard] = await told(teams, bot)
    assert heard["attachments"][0] == {
        "id": chart,
        "contentType": "reference",
        "contentUrl": teams.world.files[chart].url,
        "name": "chart.png",
    }


async def test_what_is_not_acknowledged_comes_again(teams: TeamsDouble, bot: Bot, ana: Person) -> None:
    bot.statuses = [500, 502, 201]
    asked = teams.ask(ana.aad, "hi")
    assert [one["id"] for one in await told(teams, bot)] == [asked] * 3
    [delivery] = teams.outbox.deliveries
    assert [one.failed for one in delivery.attempts] == ["http_error", "http_error", None]
    assert delivery.acknowledged
    assert teams.outbox.lost == []
    bot.statuses = [500] * 4
    teams.ask(ana.aad, "hi")
    await teams.outbox.settled()
    assert len(teams.outbox.lost) == 1
    assert (await teams.outbox.again(delivery)).status == 201


async def test_a_slow_bot_is_told_again(teams: TeamsDouble, bot: Bot, ana: Person) -> None:
    bot.hold = asyncio.Event()
    teams.outbox.ack_seconds, teams.outbox.retry_after = 0.05, (0.0,)
    teams.ask(ana.aad, "hi")
    await teams.outbox.settled()
    bot.hold.set()
    assert [one.failed for one in teams.outbox.deliveries[0].attempts] == ["timeout", "timeout"]
    assert len(bot.told) == 2


async def test_told_by_hand_twice_and_in_another_order(teams: TeamsDouble, bot: Bot, ana: Person) -> None:
    teams.outbox.auto = False
    first, second = teams.ask(ana.aad, "one"), teams.ask(ana.aad, "two")
    assert await told(teams, bot) == []
    teams.outbox.at_random(1, duplicates=1.0, reorders=1.0)
    await teams.outbox.deliver()
    assert [one["id"] for one in await told(teams, bot)] == [second, second, first, first]


async def test_raw_requests(teams: TeamsDouble, bot: Bot) -> None:
    assert (await teams.outbox.post({"type": "message"}, None))[0] == 201
    assert (await told(teams, bot)) == [{"type": "message"}]
    assert bot.headers == [""]
    assert (await teams.outbox.post(b"[]", "Basic x"))[0] == 500  # the small bot fails at it
