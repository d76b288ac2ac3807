"""Dialogs of the stand-in for Teams: how they open, go on and end, and which answers it refuses."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.adapters.teams.small_bot import bot, teams
from tests.adapters.teams.small_chat import INPUTS, Chat, card, chat, task
from tests.doubles.teams import BadAnswer, CannotAct, Dialog, TeamsDouble

__all__ = ["bot", "chat", "teams"]


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
