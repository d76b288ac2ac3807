"""Buttons, dialogs and thumbs in the stand-in for Teams, and the answers that it takes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.adapters.teams.small_bot import Bot, Json, bot, teams
from tests.doubles.teams import BadAnswer, CannotAct, Dialog, TeamsDouble
from tests.doubles.teams.things import Person

__all__ = ["bot", "teams"]

CARD = "application/vnd.microsoft.card.adaptive"
INPUTS: list[Json] = [
    {
        "type": "Input.Text",
        "id": "name",
        "label": "Name",
        "isRequired": True,
        "errorMessage": "x",
        "maxLength": 5,
    },
    {"type": "Input.Number", "id": "age", "min": 1, "max": 9, "value": 3},
    {"type": "Input.Toggle", "id": "yes", "title": "Yes"},
    {
        "type": "Input.ChoiceSet",
        "id": "labels",
        "isMultiSelect": True,
        "value": "a",
        "choices": [{"title": "A", "value": "a"}, {"title": "B", "value": "b"}],
    },
    {"type": "Input.Text", "id": "code", "regex": "[A-Z]+"},
]


def card(*body: Json, **data: Any) -> Json:
    submit = {"type": "Action.Submit", "title": "Go", "data": data}
    return {"type": "AdaptiveCard", "version": "1.5", "body": list(body), "actions": [submit]}


def task(content: Any = None, **value: Any) -> Json:
    given = {
        "title": "Settings",
        "card": {"contentType": CARD, "content": content or card(*INPUTS)},
        **value,
    }
    return {"task": {"type": "continue", "value": given}}


class Chat:
    def __init__(self, teams: TeamsDouble, bot: Bot, ana: Person) -> None:
        self.teams, self.bot, self.ana = teams, bot, ana.aad
        self.place = teams.world.personal(ana.aad).id

    async def show(self, content: Json, **more: Any) -> str:
        attachments = [{"contentType": CARD, "content": content}]
        status, answer = await self.bot.send(self.place, attachments=attachments, **more)
        assert status == 201, answer
        return answer["id"]

    async def click(self, message: str, title: str = "Go", **inputs: Any) -> Any:
        answer = await self.teams.click(self.place, message, self.ana, title, inputs)
        await self.teams.outbox.settled()
        return answer

    async def open(self) -> Dialog:
        message = await self.show(card(msteams={"type": "task/fetch"}, kind="settings"))
        self.bot.answer = task()
        dialog = await self.click(message)
        assert isinstance(dialog, Dialog)
        return dialog


@pytest.fixture
def chat(teams: TeamsDouble, bot: Bot) -> Chat:
    teams.rules.rates = False
    return Chat(teams, bot, teams.world.add_person("Ana"))


async def test_a_submitted_card(chat: Chat) -> None:
    message = await chat.show(card(*INPUTS, verb="save"))
    await chat.click(message, name="Ana", yes=True, labels=["a", "b"])
    [told] = chat.bot.told
    assert (told["type"], told["replyToId"]) == ("message", message)
    assert told["value"] == {"verb": "save", "name": "Ana", "age": 3, "yes": "true", "labels": "a,b"}
    assert "text" not in told


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"name": "Annabel"},
        {"name": "Ana", "age": 10},
        {"name": "Ana", "age": "3"},
        {"name": "Ana", "labels": "c"},
        {"name": "Ana", "code": "abc"},
        {"name": "A\nb"},
        {"name": "Ana", "other": 1},
    ],
)
async def test_teams_sends_no_wrong_inputs(chat: Chat, inputs: Json) -> None:
    message = await chat.show(card(*INPUTS))
    with pytest.raises(CannotAct):
        await chat.click(message, **inputs)
    assert chat.bot.told == []


async def test_buttons_that_are_not_there(teams: TeamsDouble, chat: Chat) -> None:
    message = await chat.show(card({"type": "TextBlock", "text": "x"}))
    with pytest.raises(CannotAct):
        await chat.click(message, "Stop")
    teams.remove(chat.place, message)
    with pytest.raises(CannotAct):
        await chat.click(message)


async def test_buttons_that_say_something(teams: TeamsDouble, chat: Chat) -> None:
    text = {"type": "TextBlock", "text": "x"}
    message = await chat.show(card(text, msteams={"type": "imBack", "value": "help"}))
    await chat.click(message)
    back = {"type": "messageBack", "text": "status", "displayText": "Status?", "value": {"a": 1}}
    message = await chat.show(card(text, msteams=back))
    await chat.click(message)
    said, pressed = chat.bot.told
    assert (said["text"], said.get("value")) == ("help", None)
    assert (pressed["text"], pressed["value"], pressed["replyToId"]) == ("status", {"a": 1}, message)
    assert [one.text for one in teams.shown(chat.place, bot=False)] == ["help", "Status?"]


async def test_a_link_says_nothing(chat: Chat) -> None:
    content = card({"type": "TextBlock", "text": "x"})
    content["actions"] = [{"type": "Action.OpenUrl", "title": "Open", "url": "https://a.example"}]
    assert await chat.click(await chat.show(content), "Open") == "https://a.example"
    assert chat.bot.told == []


async def test_suggested_prompts(teams: TeamsDouble, chat: Chat) -> None:
    actions = [{"type": "imBack", "title": "Help", "value": "What can you do?"}]
    status, answer = await chat.bot.send(chat.place, text="Hi", suggestedActions={"actions": actions})
    assert status == 201
    assert teams.shown(chat.place)[0].suggestions == ["What can you do?"]
    teams.suggest(chat.place, answer["id"], chat.ana, "Help")
    assert teams.shown(chat.place)[-1].text == "What can you do?"
    with pytest.raises(CannotAct):  # something newer stands there
        teams.suggest(chat.place, answer["id"], chat.ana, "Help")


async def test_a_dialog_from_its_opening_to_its_end(chat: Chat) -> None:
    dialog = await chat.open()
    assert (dialog.title, "Name" in dialog.words) == ("Settings", True)
    [told] = chat.bot.told
    assert (told["type"], told["name"]) == ("invoke", "task/fetch")
    assert told["value"]["data"] == {"msteams": {"type": "task/fetch"}, "kind": "settings"}
    again = await chat.teams.submit(dialog, "Go", {"name": "Ana"})
    assert isinstance(again, Dialog)
    told = chat.bot.told[-1]
    assert (told["name"], told["replyToId"]) == ("task/submit", dialog.message)
    assert told["value"]["data"] == {"name": "Ana", "age": 3, "yes": "false", "labels": "a"}
    chat.bot.answer = {"task": {"type": "message", "value": "Saved."}}
    assert await chat.teams.submit(again, "Go", {"name": "Ana"}) == "Saved."
    chat.bot.answer = None
    assert await chat.teams.submit(again, "Go", {"name": "Ana"}) is None
    with pytest.raises(CannotAct):
        await chat.teams.submit(again, "Go")
    assert chat.teams.refusals == []


async def test_a_dialog_that_is_a_page(chat: Chat) -> None:
    message = await chat.show(card(msteams={"type": "task/fetch"}))
    chat.bot.answer = {
        "task": {"type": "continue", "value": {"title": "Why", "url": "https://a.example", "height": 500}}
    }
    dialog = await chat.click(message)
    assert (dialog.url, dialog.card) == ("https://a.example", None)
    with pytest.raises(CannotAct):
        await chat.teams.submit(dialog, "Go")


WRONG_TASKS: dict[str, Any] = {
    "empty": {},
    "text": "saved",
    "no task": {"type": "continue"},
    "unknown type": {"task": {"type": "close"}},
    "empty message": {"task": {"type": "message", "value": " "}},
    "more fields": {**task(), "status": 200},
    "no title": task(title=""),
    "unknown field": task(heigth=1),
    "height": task(height="huge"),
    "width": task(width=0),
    "card and url": task(url="https://a.example"),
    "neither": {"task": {"type": "continue", "value": {"title": "x"}}},
    "http": {"task": {"type": "continue", "value": {"title": "x", "url": "http://a.example"}}},
    "card without attachment": {
        "task": {"type": "continue", "value": {"title": "x", "card": card(*INPUTS)}}
    },
    "wrong card": task({**card(*INPUTS), "version": "1.6"}),
    "large card": task(card({"type": "TextBlock", "text": "x" * 70_000})),
    "execute": task({**card(*INPUTS), "actions": [{"type": "Action.Execute", "title": "x"}]}),
}


@pytest.mark.parametrize("case", WRONG_TASKS)
async def test_refuses_a_dialog(chat: Chat, case: str) -> None:
    message = await chat.show(card(msteams={"type": "task/fetch"}))
    chat.bot.answer = WRONG_TASKS[case]
    with pytest.raises(BadAnswer):
        await chat.click(message)
    assert len(chat.teams.refusals) == 1


async def test_buttons_that_can_not_be_pressed(teams: TeamsDouble, chat: Chat) -> None:
    content = card({"type": "TextBlock", "text": "x"})
    content["actions"] = [
        {"type": "Action.Submit", "title": "Off", "isEnabled": False},
        {"type": "Action.ToggleVisibility", "title": "More", "targetElements": []},
        {"type": "Action.Submit", "title": "Delete", "data": {"n": 1}},
        {"type": "Action.Submit", "title": "Delete", "data": {"n": 2}},
    ]
    message = await chat.show(content)
    for title in ("Off", "More"):
        with pytest.raises(CannotAct):
            await chat.click(message, title)
    await teams.click(chat.place, message, chat.ana, "Delete", number=2)
    await teams.outbox.settled()
    assert chat.bot.told[0]["value"] == {"n": 2}
    with pytest.raises(CannotAct):
        await teams.click(chat.place, message, chat.ana, "Delete", number=3)


async def test_a_bot_that_is_not_there(teams: TeamsDouble, chat: Chat) -> None:
    message = await chat.show(card(msteams={"type": "task/fetch"}))
    chat.bot.hold, teams.outbox.invoke_seconds = asyncio.Event(), 0.05
    with pytest.raises(BadAnswer, match="status none"):
        await chat.click(message)
    chat.bot.hold.set()


async def test_refuses_no_answer_to_a_fetch(chat: Chat) -> None:
    message = await chat.show(card(msteams={"type": "task/fetch"}))
    with pytest.raises(BadAnswer):
        await chat.click(message)


async def test_thumbs(teams: TeamsDouble, chat: Chat) -> None:
    loop = {"feedbackLoop": {"type": "default"}}
    _, answer = await chat.bot.send(chat.place, text="x", channelData=loop)
    await teams.feedback(chat.place, answer["id"], chat.ana, "dislike", "too short")
    [told] = chat.bot.told
    assert (told["name"], told["replyToId"]) == ("message/submitAction", answer["id"])
    assert told["value"] == {
        "actionName": "feedback",
        "actionValue": {"reaction": "dislike", "feedback": '{"feedbackText": "too short"}'},
    }
    chat.bot.answer = {"status": "thanks"}
    with pytest.raises(BadAnswer):
        await teams.feedback(chat.place, answer["id"], chat.ana, "like")
    _, plain = await chat.bot.send(chat.place, text="x")
    with pytest.raises(CannotAct):
        await teams.feedback(chat.place, plain["id"], chat.ana, "like")


async def test_a_message_action(teams: TeamsDouble, chat: Chat) -> None:
    team = teams.world.add_team("Support", chat.ana)
    message = teams.say(team.id, chat.ana, "Leave is <b>twelve</b> weeks")
    chat.bot.answer = task()
    dialog = await teams.message_action(team.id, message, chat.ana, "add")
    assert isinstance(dialog, Dialog)
    [told] = chat.bot.told
    assert told["name"] == "composeExtension/fetchTask"
    assert (told["value"]["commandId"], told["value"]["commandContext"]) == ("add", "message")
    assert told["conversation"]["id"] == f"{team.id};messageid={message}"
    payload = told["value"]["messagePayload"]
    assert (payload["id"], payload["from"]["user"]["id"]) == (message, chat.ana)
    assert payload["body"]["content"] == "<p>Leave is &lt;b&gt;twelve&lt;/b&gt; weeks</p>"
    chat.bot.answer = {"composeExtension": {"type": "message", "text": "Added."}}
    assert await teams.submit(dialog, "Go", {"name": "Ana"}) == "Added."
    assert chat.bot.told[-1]["name"] == "composeExtension/submitAction"
    assert chat.bot.told[-1]["value"]["data"]["name"] == "Ana"
    chat.bot.answer = {"composeExtension": {"type": "result"}}
    with pytest.raises(BadAnswer):
        await teams.submit(dialog, "Go", {"name": "Ana"})
    chat.bot.answer = None
    assert await teams.submit(dialog, "Go", {"name": "Ana"}) is None


async def test_a_card_that_is_executed(teams: TeamsDouble, chat: Chat) -> None:
    content = card({"type": "TextBlock", "text": "old"})
    content["actions"] = [{"type": "Action.Execute", "title": "Go", "verb": "renew", "data": {"a": 1}}]
    message = await chat.show(content)
    chat.bot.answer = {"statusCode": 200, "type": CARD, "value": card({"type": "TextBlock", "text": "new"})}
    await chat.click(message)
    assert chat.bot.told[0]["value"]["action"] == {
        "type": "Action.Execute", "id": "", "verb": "renew", "data": {"a": 1},
    }  # fmt: skip
    assert "new" in teams.shown(chat.place)[0].words
    message = await chat.show(content)
    chat.bot.answer = {
        "statusCode": 200,
        "type": "application/vnd.microsoft.activity.message",
        "value": "Done",
    }
    assert await chat.click(message) == "Done"
    for wrong in (
        {"statusCode": 500, "type": "application/vnd.microsoft.error", "value": {}},
        {"statusCode": 200},
    ):
        chat.bot.answer = wrong
        with pytest.raises(BadAnswer):
            await chat.click(message)
