"""Buttons, prompts and thumbs in the stand-in for Teams, and the answers that it takes."""

from __future__ import annotations

import pytest

from tests.adapters.teams.small_bot import Json, bot, teams
from tests.adapters.teams.small_chat import CARD, INPUTS, Chat, card, chat
from tests.doubles.teams import BadAnswer, CannotAct, TeamsDouble

__all__ = ["bot", "chat", "teams"]


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
