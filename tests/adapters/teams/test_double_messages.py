"""The stand-in for Teams takes the messages that Teams takes, and refuses all others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.adapters.teams.small_bot import Bot, Json, bot, teams
from tests.doubles.teams import TeamsDouble

__all__ = ["bot", "teams"]


CARD = "application/vnd.microsoft.card.adaptive"
TEXT: Json = {"type": "TextBlock", "text": "x"}
ROOT: Json = {
    "type": "https://schema.org/Message",
    "@type": "Message",
    "@context": "https://schema.org",
    "@id": "",
    "additionalType": ["AIGeneratedContent"],
}


def claim(position: Any = 1, **appearance: Any) -> Json:
    shown = {"@type": "DigitalDocument", "name": "Handbook", "abstract": "About leave.", **appearance}
    return {"@type": "Claim", "position": position, "appearance": shown}


def cited(*claims: Any, text: str = "See [1] and [2].") -> Json:
    return {"text": text, "entities": [{**ROOT, "citation": list(claims)}]}


def card(*body: Any, **more: Any) -> Json:
    content = {"type": "AdaptiveCard", "version": "1.5", "body": list(body or [TEXT]), **more}
    return {"attachments": [{"contentType": CARD, "content": content}]}


def mention(name: str = "Ana", id: str | None = "ana", text: str = "<at>Ana</at>") -> Json:
    return {"type": "mention", "text": text, "mentioned": {"id": id, "name": name}}


def suggest(*actions: Json) -> Json:
    return {"text": "x", "suggestedActions": {"to": [], "actions": list(actions)}}


def choice(**more: Any) -> Json:
    options = [{"title": "A", "value": "a"}, {"title": "B", "value": "b"}]
    return {"type": "Input.ChoiceSet", "id": "c", "choices": options, **more}


def button(**more: Any) -> Json:
    return {"type": "Action.Submit", "title": "Go", "data": {"a": 1}, **more}


def table(columns: int = 1, cells: int = 1, **more: Any) -> Json:
    row = {"type": "TableRow", "cells": [{"type": "TableCell", "items": [TEXT]}] * cells}
    return {"type": "Table", "columns": [{"width": 1}] * columns, "rows": [row], **more}


PROMPT: Json = {"type": "imBack", "title": "Ask", "value": "Ask this"}
USAGE: Json = {"@type": "CreativeWork", "name": "Confidential", "description": "Not for others"}
PICTURE: Json = {"@type": "ImageObject", "name": "PDF"}
GOOD: dict[str, Json] = {
    "text": {"text": "x"},
    "plain": {"text": "x", "textFormat": "plain"},
    "typing": {"type": "typing"},
    "labels and citations": cited(
        claim(1, url="https://a.example/1", keywords=["a", "b", "c"], image=PICTURE, usageInfo=USAGE),
        claim(2),
    ),
    "ten citations": cited(*[claim(n) for n in range(1, 11)], text="".join(f"[{n}]" for n in range(1, 11))),
    "sensitivity": {"text": "x", "entities": [{**ROOT, "usageInfo": {"type": ROOT["type"], **USAGE}}]},
    "feedback": {"text": "x", "channelData": {"feedbackLoop": {"type": "default"}}},
    "older feedback": {"text": "x", "channelData": {"feedbackLoopEnabled": True}},
    "quiet": {"text": "x", "channelData": {"notification": {"alert": False}}},
    "mention": {"text": "<at>Ana</at> hi", "entities": [mention()]},
    "mention on a card": card(
        {"type": "TextBlock", "text": "<at>Ana</at>"}, msteams={"width": "Full", "entities": [mention()]}
    ),
    "prompts": suggest(PROMPT),
    "card": card(
        TEXT, actions=[button(), {"type": "Action.OpenUrl", "title": "Open", "url": "https://a.example"}]
    ),
    "table": card(table(2, 2, firstRowAsHeader=True)),
    "inputs": card(
        {"type": "Input.Text", "id": "t", "label": "Name", "isRequired": True, "errorMessage": "Name it"},
        {"type": "Input.Number", "id": "n", "min": 1, "value": 2},
        {"type": "Input.Toggle", "id": "g", "title": "Yes"},
        choice(isMultiSelect=True, value="a,b"),
    ),
    "nested": card(
        {
            "type": "Container",
            "items": [{"type": "ColumnSet", "columns": [{"type": "Column", "items": [TEXT]}]}],
        },
        {"type": "FactSet", "facts": [{"title": "a", "value": "b"}]},
        {"type": "RichTextBlock", "inlines": ["x", {"type": "TextRun", "text": "y", "weight": "Bolder"}]},
        {
            "type": "ActionSet",
            "actions": [{"type": "Action.ToggleVisibility", "title": "T", "targetElements": ["q"]}],
        },
        {"type": "TextBlock", "id": "q", "text": "x", "isVisible": False},
        actions=[
            {"type": "Action.ShowCard", "title": "More", "card": {"type": "AdaptiveCard", "body": [TEXT]}}
        ],
    ),
    "dialog button": card(actions=[button(data={"msteams": {"type": "task/fetch"}, "x": 1})]),
    "a large card": card({"type": "TextBlock", "text": "x" * 30_000}),
}
BAD: dict[str, Json] = {
    "no type": {"type": None, "text": "x"},
    "unknown type": {"type": "trace", "text": "x"},
    "nothing": {},
    "blank": {"text": " \n"},
    "text is no string": {"text": 5},
    "unknown format": {"text": "x", "textFormat": "html"},
    "layout": {"text": "x", "attachmentLayout": "grid"},
    "another sender": {"text": "x", "from": {"id": "28:other"}},
    "another conversation": {"text": "x", "conversation": {"id": "a:other"}},
    "typing with text": {"type": "typing", "text": "x"},
    "typing with label": {"type": "typing", "entities": [ROOT]},
    "typing with feedback": {"type": "typing", "channelData": {"feedbackLoop": {"type": "default"}}},
    "entities no list": {"text": "x", "entities": {}},
    "unknown entity": {"text": "x", "entities": [{"type": "Message"}]},
    "two roots": {"text": "x", "entities": [ROOT, ROOT]},
    "wrong root": {"text": "x", "entities": [{**ROOT, "@context": "http://schema.org"}]},
    "root with id": {"text": "x", "entities": [{**ROOT, "@id": "1"}]},
    "unknown label": {"text": "x", "entities": [{**ROOT, "additionalType": ["Generated"]}]},
    "unknown field of root": {"text": "x", "entities": [{**ROOT, "citations": []}]},
    "usage without name": {"text": "x", "entities": [{**ROOT, "usageInfo": {"@type": "CreativeWork"}}]},
    "eleven citations": cited(*map(claim, range(1, 12)), text="".join(f"[{n}]" for n in range(1, 12))),
    "same position": cited(claim(1), claim(1)),
    "position 0": cited(claim(0), text="[0]"),
    "position a string": cited(claim("1")),
    "position not in the text": cited(claim(3)),
    "citation no claim": cited({**claim(), "@type": "Citation"}),
    "no appearance": cited({"@type": "Claim", "position": 1}),
    "unknown field of appearance": cited(claim(title="x")),
    "long name": cited(claim(name="x" * 81)),
    "empty name": cited(claim(name="")),
    "long abstract": cited(claim(abstract="x" * 161)),
    "long in UTF-16": cited(claim(name="\U0001f600" * 41)),
    "no abstract": cited(claim(abstract=None)),
    "four keywords": cited(claim(keywords=["a"] * 4)),
    "long keyword": cited(claim(keywords=["x" * 29])),
    "http address": cited(claim(url="http://a.example")),
    "unknown picture": cited(claim(image={"@type": "ImageObject", "name": "Word"})),
    "mention not in text": {"text": "hi", "entities": [mention()]},
    "mention of a stranger": {"text": "<at>Ana</at>", "entities": [mention(id="29:nobody")]},
    "mention without at": {"text": "Ana", "entities": [mention(text="Ana")]},
    "mention not on the card": card(msteams={"entities": [mention()]}),
    "mention of nobody": {"text": "<at>A</at>", "entities": [{"type": "mention", "text": "<at>A</at>"}]},
    "feedback unknown": {"text": "x", "channelData": {"feedbackLoop": {"type": "thumbs"}}},
    "feedback twice": {
        "text": "x", "channelData": {"feedbackLoop": {"type": "default"}, "feedbackLoopEnabled": True},
    },
    "feedback no boolean": {"text": "x", "channelData": {"feedbackLoopEnabled": "yes"}},
    "unknown channelData": {"text": "x", "channelData": {"feedbackloop": {}}},
    "alert no boolean": {"text": "x", "channelData": {"notification": {"alert": "no"}}},
    "seven prompts": suggest(*[PROMPT] * 7),
    "no prompts": suggest(),
    "prompt of another kind": suggest({**PROMPT, "type": "messageBack"}),
    "prompt without value": suggest({**PROMPT, "value": ""}),
    "unknown attachment": {"text": "x", "attachments": [{"contentType": "text/html", "content": "x"}]},
    "card as text": {"attachments": [{"contentType": CARD, "content": "{}"}]},
    "picture over http": {"attachments": [{"contentType": "image/png", "contentUrl": "http://a.example/x.png"}]},
    "eleven attachments": {"attachments": card()["attachments"] * 11},
    "other card without content": {"attachments": [{"contentType": "application/vnd.microsoft.card.hero"}]},
    "script": {"text": "<script>x</script>", "textFormat": "xml"},
    "channelData no object": {"text": "x", "channelData": []},
    "citation no object": cited("[1]"),
    "long usage": {"text": "x", "entities": [{**ROOT, "usageInfo": {**USAGE, "name": "x" * 81}}]},
    "element no object": card("x"),
    "wrong selectAction": card({"type": "Container", "items": [TEXT], "selectAction": {"type": "Open"}}),
    "wrong selectAction of a card": card(selectAction={"type": "Open"}),
    "newer card": card(version="1.6"),
    "card without version": card(version=None),
    "empty card": {
        "attachments": [{"contentType": CARD, "content": {"type": "AdaptiveCard", "version": "1.5"}}],
    },
    "unknown property of a card": card(title="x"),
    "unknown element": card({"type": "Text", "text": "x"}),
    "element without its text": card({"type": "TextBlock"}),
    "misspelt property": card({**TEXT, "Wrap": True}),
    "wrong value": card({**TEXT, "size": "huge"}),
    "wrong type": card({**TEXT, "wrap": "true"}),
    "list as body": card(body={}),
    "picture without https": card({"type": "Image", "url": "http://a.example/x.png"}),
    "input without id": card({"type": "Input.Text"}),
    "two inputs of one id": card({"type": "Input.Text", "id": "a"}, {"type": "Input.Text", "id": "a"}),
    "required without words": card({"type": "Input.Text", "id": "a", "isRequired": True}),
    "number as text": card({"type": "Input.Number", "id": "a", "value": "2"}),
    "toggle without title": card({"type": "Input.Toggle", "id": "a"}),
    "no choices": card(choice(choices=[])),
    "choices alike": card(choice(choices=[{"title": "A", "value": "a"}] * 2)),
    "value is no choice": card(choice(value="c")),
    "two values": card(choice(value="a,b")),
    "unknown action": card(actions=[button(type="Action.Http")]),
    "seven actions": card(actions=[button()] * 7),
    "action without title": card(actions=[button(title="")]),
    "data no object": card(actions=[button(data="x")]),
    "unknown msteams": card(actions=[button(data={"msteams": {"type": "task/open"}})]),
    "messageBack without text": card(actions=[button(data={"msteams": {"type": "messageBack"}})]),
    "another scheme": card(actions=[{"type": "Action.OpenUrl", "title": "x", "url": "javascript:x"}]),
    "table without columns": card({"type": "Table", "rows": table()["rows"]}),
    "table without rows": card(table(rows=[])),
    "more cells than columns": card(table(1, 2)),
    "cell of another type": card(table(rows=[{"type": "TableRow", "cells": [TEXT]}])),
    "facts without value": card({"type": "FactSet", "facts": [{"title": "a"}]}),
    "bad card inside": card(actions=[{"type": "Action.ShowCard", "title": "x", "card": {"type": "Card"}}]),
}  # fmt: skip


def with_ana(activity: Json, ana: str) -> Json:
    """The people of the cases above have no ids yet."""
    return json.loads(json.dumps(activity).replace('"id": "ana"', f'"id": "{ana}"'))


@pytest.mark.parametrize("case", GOOD)
async def test_takes(teams: TeamsDouble, bot: Bot, case: str) -> None:
    ana = teams.world.add_person("Ana")
    place = teams.world.personal(ana.aad).id
    status, answer = await bot.send(place, with_ana({"type": "message"} | GOOD[case], ana.user))
    assert status in (201, 202), answer
    assert teams.refusals == []


@pytest.mark.parametrize("case", BAD)
async def test_refuses(teams: TeamsDouble, bot: Bot, case: str) -> None:
    ana = teams.world.add_person("Ana")
    place = teams.world.personal(ana.aad).id
    status, answer = await bot.send(place, with_ana({"type": "message"} | BAD[case], ana.user))
    assert (status, answer["error"]["code"]) == (400, "BadSyntax"), answer
    assert len(teams.refusals) == 1
    assert teams.shown(place) == []


async def test_refuses_what_is_too_large(teams: TeamsDouble, bot: Bot) -> None:
    place = teams.world.personal(teams.world.add_person("Ana").aad).id
    assert (await bot.send(place, text="x" * 50_000))[0] == 201
    for text in ("x" * 51_200, "\U0001f600" * 26_000):
        status, answer = await bot.send(place, text=text)
        assert (status, answer["error"]["code"]) == (413, "MessageSizeTooBig")


async def test_prompts_are_for_personal_chats(teams: TeamsDouble, bot: Bot) -> None:
    chat = teams.world.add_chat("Lunch", teams.world.add_person("Ana").aad).id
    assert (await bot.send(chat, {"type": "message", **GOOD["prompts"]}))[0] == 400


async def test_refuses_bodies_that_are_none(teams: TeamsDouble, bot: Bot) -> None:
    place = teams.world.personal(teams.world.add_person("Ana").aad).id
    url = f"{teams.url}v3/conversations/{place}/activities"
    headers = {"Authorization": f"Bearer {bot.token}"}
    for kind, body, status in (
        ("application/json", b"{", 400),
        ("application/json", b"[]", 400),
        ("text/plain", b"{}", 415),
    ):
        async with bot.session.post(url, data=body, headers={**headers, "Content-Type": kind}) as response:
            assert response.status == status
    assert (await bot.call("PATCH", f"conversations/{place}"))[0] == 404
