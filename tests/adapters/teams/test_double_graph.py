"""Microsoft Graph in the stand-in for Teams."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.adapters.teams.small_bot import Bot, Json, bot, teams
from tests.doubles.teams import Expires, Fails, RateLimited, TeamsDouble
from tests.doubles.teams.things import Conversation, Person, Team

__all__ = ["bot", "teams"]


@pytest.fixture
def ana(teams: TeamsDouble) -> Person:
    return teams.world.add_person("Ana")


@pytest.fixture
def team(teams: TeamsDouble, ana: Person) -> Team:
    return teams.world.add_team("Support", teams.world.add_person("Ben").aad, owners=(ana.aad,), rsc=True)


@pytest.fixture
def chat(teams: TeamsDouble, ana: Person) -> Conversation:
    return teams.world.add_chat("Lunch", ana.aad, rsc=True)


class Asker:
    def __init__(self, teams: TeamsDouble, bot: Bot) -> None:
        self.teams, self.bot = teams, bot
        self.token = teams.login.give("graph", teams.world.first_tenant)

    async def get(self, path: str, **more: Any) -> tuple[int, Json]:
        url = path if path.startswith("http") else f"{self.teams.graph_url}/{path}"
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self.bot.session.get(url, headers=headers, **more) as response:
            if response.content_type == "application/json":
                return response.status, await response.json()
            return response.status, {"body": await response.read(), **response.headers}

    async def all(self, path: str) -> tuple[list[str], int]:
        """Ids over all pages, and how many pages that were."""
        ids: list[str] = []
        for number in range(1, 50):
            status, page = await self.get(path)
            assert status == 200, page
            ids += [one["id"] for one in page["value"]]
            if "@odata.nextLink" not in page:
                return ids, number
            path = page["@odata.nextLink"]
        raise AssertionError("no end")


@pytest.fixture
def graph(teams: TeamsDouble, bot: Bot, ana: Person) -> Asker:
    return Asker(teams, bot)


async def test_a_thread(teams: TeamsDouble, bot: Bot, graph: Asker, ana: Person, team: Team) -> None:
    post = teams.say(team.id, ana.aad, f"{teams.at_bot} how long is < 5?")
    _, answer = await bot.send(f"{team.id};messageid={post}", text="Twelve\nweeks")
    gone = teams.say(team.id, ana.aad, "oops", thread=post)
    teams.delete(team.id, gone)
    path = f"teams/{team.group}/channels/{team.id}/messages/{post}"
    root = (await graph.get(path))[1]
    assert root["replyToId"] is None
    assert root["body"]["content"] == '<p><at id="0">Footnote</at> how long is &lt; 5?</p>'
    assert root["mentions"][0]["mentioned"]["application"]["id"] == teams.app_id
    assert root["from"]["user"]["id"] == ana.aad
    assert root["channelIdentity"] == {"teamId": team.group, "channelId": team.id}
    replies = (await graph.get(f"{path}/replies"))[1]["value"]
    assert [one["id"] for one in replies] == [gone, answer["id"]]  # the newest first
    assert (replies[0]["deletedDateTime"] is None, replies[0]["body"]["content"]) == (False, "")
    assert replies[1]["from"]["application"]["id"] == teams.app_id
    assert replies[1]["body"]["content"] == "<p>Twelve<br>weeks</p>"
    assert (await graph.get(f"{path}/replies/{answer['id']}"))[1]["replyToId"] == post


async def test_pages(teams: TeamsDouble, graph: Asker, ana: Person, team: Team, chat: Conversation) -> None:
    post = teams.say(team.id, ana.aad, "root")
    replies = [teams.say(team.id, ana.aad, f"{n}", thread=post) for n in range(45)]
    path = f"teams/{team.group}/channels/{team.id}/messages/{post}/replies"
    assert await graph.all(path) == (replies[::-1], 3)
    assert await graph.all(f"{path}?$top=50") == (replies[::-1], 1)
    teams.rules.graph_page = 10
    assert await graph.all(f"{path}?$top=50") == (replies[::-1], 5)
    said = [teams.say(chat.id, ana.aad, f"{n}") for n in range(12)]
    assert await graph.all(f"chats/{chat.id}/messages?$top=5") == (said[::-1], 3)
    teams.clock.advance(60)
    teams.edit(chat.id, said[0], "changed")
    assert (await graph.all(f"chats/{chat.id}/messages"))[0] == [said[0], *said[:0:-1]]
    assert (await graph.all(f"chats/{chat.id}/messages?$orderby=createdDateTime desc"))[0] == said[::-1]
    assert (await graph.get(f"chats/{chat.id}/messages/{said[3]}"))[1]["body"]["content"] == "<p>3</p>"


async def test_members(teams: TeamsDouble, graph: Asker, ana: Person, team: Team) -> None:
    team.members[teams.world.add_person("Zoe", guest=True).aad] = "guest"
    found = (await graph.get(f"teams/{team.group}/members"))[1]["value"]
    assert [(one["displayName"], one["roles"]) for one in found] == [
        ("Ben", []),
        ("Ana", ["owner"]),
        ("Zoe", ["guest"]),
    ]
    assert found[1]["userId"] == ana.aad


async def test_consent(
    teams: TeamsDouble, graph: Asker, ana: Person, team: Team, chat: Conversation
) -> None:
    post = teams.say(team.id, ana.aad, "root")
    paths = [
        f"teams/{team.group}/channels/{team.id}/messages/{post}",
        f"teams/{team.group}/channels/{team.id}/messages/{post}/replies",
        f"teams/{team.group}/members",
        f"chats/{chat.id}/messages",
    ]
    team.rsc = chat.rsc = False
    for path in paths:
        status, answer = await graph.get(path)
        assert (status, answer["error"]["code"]) == (403, "Forbidden")
    assert teams.refusals == []
    teams.world.tenants[team.tenant].permissions = {
        "ChannelMessage.Read.All",
        "Chat.Read.All",
        "TeamMember.Read.All",
    }
    assert [(await graph.get(path))[0] for path in paths] == [200] * 4


async def test_refuses(
    teams: TeamsDouble, graph: Asker, ana: Person, team: Team, chat: Conversation
) -> None:
    post = teams.say(team.id, ana.aad, "root")
    reply = teams.say(team.id, ana.aad, "reply", thread=post)
    messages = f"teams/{team.group}/channels/{team.id}/messages"
    for path, status in (
        (f"{messages}/{reply}", 404),
        (f"{messages}/{reply}/replies", 404),
        (f"{messages}/{post}/replies?$top=51", 400),
        (f"{messages}/{post}/replies?$top=x", 400),
        (f"{messages}/{post}/replies?$skip=1", 400),
        (f"{messages}/{post}/replies?$orderby=createdDateTime desc", 400),
        (f"chats/{chat.id}/messages?$orderby=createdDateTime asc", 400),
        (f"chats/{team.id}/messages", 404),
        ("chats/19:none@thread.v2/messages", 404),
        (f"chats/{chat.id}/messages/1", 404),
        (f"teams/{team.id}/members", 404),
        (f"teams/{team.group}/channels/{chat.id}/messages/{post}", 404),
        ("me", 404),
    ):
        assert (await graph.get(path))[0] == status, path
    assert len(teams.refusals) == 13
    # The Connector's id of a personal chat is none of Graph's.
    assert (await graph.get(f"chats/{teams.world.personal(ana.aad).id}/messages"))[0] == 400
    assert len(teams.refusals) == 13


async def test_tokens_are_for_one_tenant(
    teams: TeamsDouble, graph: Asker, team: Team, chat: Conversation
) -> None:
    graph.token = teams.login.give("graph", teams.world.add_tenant("Fabrikam").id)
    assert (await graph.get(f"teams/{team.group}/members"))[0] == 404
    assert (await graph.get(f"chats/{chat.id}/messages"))[0] == 404
    graph.token = teams.login.give("connector")
    status, answer = await graph.get(f"teams/{team.group}/members")
    assert (status, answer["error"]["code"]) == (401, "InvalidAuthenticationToken")


async def test_faults(teams: TeamsDouble, graph: Asker, team: Team) -> None:
    path = f"teams/{team.group}/members"
    teams.faults.next("graph", RateLimited(3), Fails(503, "ServiceUnavailable"), Expires())
    assert [(await graph.get(path))[0] for _ in range(3)] == [429, 503, 401]
    assert teams.refusals == []


async def test_files(teams: TeamsDouble, graph: Asker, ana: Person, team: Team) -> None:
    file = teams.world.add_file("plan.docx", b"words")
    teams.say(team.id, ana.aad, f"{teams.at_bot} add", files=[file.id])
    share = "u!" + base64.urlsafe_b64encode(file.url.encode()).rstrip(b"=").decode()
    assert (await graph.get(f"shares/{share}/driveItem"))[0] == 403
    assert teams.refusals == []
    teams.world.tenants[team.tenant].permissions.add("Files.Read.All")
    item = (await graph.get(f"shares/{share}/driveItem"))[1]
    assert (item["name"], item["size"], item["webUrl"]) == ("plan.docx", 5, file.url)
    assert set((await graph.get(f"shares/{share}/driveItem?$select=name,size"))[1]) == {"name", "size"}
    status, moved = await graph.get(f"shares/{share}/driveItem/content", allow_redirects=False)
    assert status == 302
    assert moved["Location"].startswith("http://localhost:")
    status, content = await graph.get(f"shares/{share}/driveItem/content")  # the client drops the token
    assert (status, content["body"]) == (200, b"words")
    assert teams.refusals == []
    assert (await graph.get(moved["Location"]))[0] == 401  # the token leaks
    assert (await graph.get(f"shares/{share}=/driveItem"))[0] == 400
    assert (await graph.get("shares/plan/driveItem"))[0] == 400
    assert len(teams.refusals) == 3
    file.gone = True
    assert (await graph.get(f"shares/{share}/driveItem"))[0] == 404


async def test_what_else_a_message_holds(
    teams: TeamsDouble, bot: Bot, graph: Asker, ana: Person, chat: Conversation
) -> None:
    teams.join(chat.id, teams.world.add_person("Ben").aad)
    file = teams.world.add_file("plan.docx", b"words")
    teams.say(chat.id, ana.aad, f"<@{ana.aad}> see", files=[file.id])
    content = {"type": "AdaptiveCard", "version": "1.5", "body": [{"type": "TextBlock", "text": "x"}]}
    card = {"contentType": "application/vnd.microsoft.card.adaptive", "content": content}
    await bot.send(chat.id, attachments=[card])
    teams.say_as_other_bot(chat.id, "beep")
    beep, shown, said, joined = (await graph.get(f"chats/{chat.id}/messages"))[1]["value"]
    assert beep["from"]["application"]["id"] == "other-app"
    assert json.loads(shown["attachments"][0]["content"]) == content
    assert said["attachments"][0]["contentUrl"] == file.url
    assert said["mentions"][0]["mentioned"]["user"]["id"] == ana.aad
    assert (joined["messageType"], joined["from"]) == ("systemEventMessage", None)
    assert len(teams.shown(chat.id)) == 3
    async with bot.session.post(
        f"{teams.graph_url}/me", headers={"Authorization": f"Bearer {graph.token}"}
    ) as response:
        assert response.status == 405
