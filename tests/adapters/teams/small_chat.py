"""A person's chat with the small bot, in which cards are shown and buttons pressed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.teams.small_bot import Bot, Json
from tests.doubles.teams import Dialog, TeamsDouble
from tests.doubles.teams.things import Person

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
