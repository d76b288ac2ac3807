"""Dialogs: settings, why, passages, what commands show; and that whatever happens, the person reads why."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from adapters.conversation import Reply
from adapters.forms import Field, Form, FormResult, Submission
from adapters.ports import Actor, Explanation, ExplanationStep, Refused
from adapters.teams import limits
from adapters.teams.card import size
from adapters.teams.errors import RateLimited, TeamsError
from adapters.teams.explain import explanation_card, passages_card
from tests.adapters.fake_bot import FakeBot, citation, document
from tests.adapters.replies import HOSTILE, strings
from tests.adapters.teams.acts import BEN, CHANNEL, Chat, Json, words
from tests.adapters.teams.client import inputs, walk

FORM = Form(
    id="workspace-settings", title="Settings", revision=3,
    fields=(Field(name="x", label="X", kind="text", value="old"),),
)  # fmt: skip


class SettingsBot(FakeBot):
    """Admins only; says of one value that it is wrong, of another that somebody else saved."""

    async def form(self, actor: Actor) -> Form:
        if not actor.person.is_admin:
            raise Refused("Only admins can change the settings.")
        return FORM

    async def submit(self, actor: Actor, submission: Submission) -> FormResult:
        self._called("submit", submission)
        match submission.values["x"]:
            case "bad":
                return FormResult(errors={"x": "That is wrong."})
            case "late":
                return FormResult(conflict=FORM.model_copy(update={"revision": 4}))
            case _:
                return FormResult(message="Saved.")


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path, SettingsBot())


async def test_settings_are_changed_in_a_dialog(chat: Chat) -> None:
    card = await chat.opens({"kind": "settings"})
    assert [one["value"] for one in inputs(card)] == ["old"]
    saved = await chat.presses(card, "Save", filled={"x": "new"})
    assert words(saved) == "Saved."
    assert chat.bot.calls[-1] == (
        "submit", Submission(form_id=FORM.id, values={"x": "new"}, revision=3),
    )  # fmt: skip


async def test_what_is_wrong_is_said_in_the_dialog_and_what_was_typed_stays(chat: Chat) -> None:
    card = await chat.presses(await chat.opens({"kind": "settings"}), "Save", filled={"x": "bad"})
    assert words(card) == "That is wrong."
    assert [one["value"] for one in inputs(card)] == ["bad"]
    assert words(await chat.presses(card, "Save", filled={"x": "good"})) == "Saved."


async def test_who_is_late_sees_the_settings_as_they_are_now(chat: Chat) -> None:
    card = await chat.presses(await chat.opens({"kind": "settings"}), "Save", filled={"x": "late"})
    assert "Somebody else saved in between" in words(card)
    assert [one["value"] for one in inputs(card)] == ["old"]
    await chat.presses(card, "Save")
    assert chat.bot.calls[-1][1].revision == 4


async def test_settings_are_for_admins_also_when_they_are_sent(chat: Chat) -> None:
    card = await chat.opens({"kind": "settings"})
    for shown in (
        await chat.opens({"kind": "settings"}, who=BEN),
        await chat.presses(card, "Save", who=BEN),
    ):
        assert words(shown) == "Only admins can change the settings."
    assert chat.bot.calls == []


async def test_why_opens_step_by_step(chat: Chat) -> None:
    chat.bot.explanation = Explanation(
        turn_id="t1", question="<at>all</at> why?", total_ms=1500,
        steps=tuple(
            ExplanationStep(name="s", title=f"Step {number}", start_ms=1, ms=2, lines=HOSTILE,
                            input_tokens=3, output_tokens=4, note="**A** note")
            for number in range(40)
        ),
    )  # fmt: skip
    card = await chat.opens({"kind": "why", "turn": "t1"})
    assert chat.bot.calls == [("explain", "t1")]
    assert "1.5 s in all · 120 tokens read, 160 written" in words(card)
    assert "1. Step 0" in words(card)
    assert "<at>" not in words(card)


def test_a_long_explanation_fits() -> None:
    steps = tuple(
        ExplanationStep(name="s", title="t" * 300, start_ms=0, ms=0, lines=("x" * 900,) * 90)
        for _ in range(50)
    )
    card = explanation_card(Explanation(turn_id="t", question="q" * 9000, steps=steps, total_ms=0))
    assert size(card) <= limits.CARD_BYTES
    walk(card)


async def test_passages_without_a_page_are_shown_with_the_cited_words(chat: Chat) -> None:
    cited = citation(passage="Rule one.\nKeys change  every 90 days. More.", quote="change every 90 days",
                     url=None, page=2, source_url="https://a.example/f")  # fmt: skip
    linked = citation(number=2, label="2", title="Elsewhere", url="https://kb.example/s")
    local = cited.model_copy(update={"source_url": None})
    chat.bot.replies["t1"] = Reply(turn_id="t1", kind="answer", text="A [1]", citations=(local, linked))
    card = await chat.opens({"kind": "passages", "turn": "t1"})
    assert words(card) == "1. Keys\np. 2\nRule one.\nKeys change  every 90 days. More."
    bold = [one["text"] for one in walk(card) if one["type"] == "TextRun" and one.get("weight")]
    assert bold == ["1. Keys", "change  every 90 days"]
    buttons = [one["url"] for one in walk(passages_card([cited])) if one["type"] == "Action.OpenUrl"]
    assert buttons == ["https://a.example/f"]


async def test_passages_of_an_answer_that_is_gone(chat: Chat) -> None:
    assert "not kept any more" in words(await chat.opens({"kind": "passages", "turn": "t9"}))


async def test_the_list_turns_its_pages_and_deletes_in_the_dialog(chat: Chat) -> None:
    chat.bot.documents_there = [document(number) for number in range(1, 14)]
    card = await chat.opens({"kind": "show", "verb": "list", "rest": ""}, reference=CHANNEL)
    card = await chat.presses(card, "Next", reference=CHANNEL)
    asked = await chat.presses(card, "Delete 12", reference=CHANNEL)
    assert words(asked) == "Delete “keys12.md”? It will be gone for everybody."
    assert words(await chat.presses(asked, "Keep it")) == "Nothing was deleted."
    assert words(await chat.presses(asked, "Delete")) == "“keys12.md” is deleted."
    assert ("delete", "d12") in chat.bot.calls


@pytest.mark.parametrize(
    ("verb", "rest", "said"),
    [
        ("status", "", "There are no documents yet"),
        ("search", "soup", "The best passages for “soup”:"),
        ("search", "", "Type what to search for"),
        ("delete", "nothing", "There is no document “nothing”"),
        ("settings", "", "does nothing any more"),
        ("upload", "", "does nothing any more"),
    ],
)
async def test_a_command_shows_what_it_says(chat: Chat, verb: str, rest: str, said: str) -> None:
    assert said in words(await chat.opens({"kind": "show", "verb": verb, "rest": rest}))


@pytest.mark.parametrize(
    "data", [{}, {"kind": "nothing"}, {"kind": ["why"]}, {"kind": "save"}, {"kind": None}, None, "why", []]
)
async def test_a_button_of_another_time_says_so(chat: Chat, data: Any) -> None:
    for name in ("task/fetch", "task/submit"):
        answer = await chat.invoke(name, {"data": data})
        assert answer.status == 200
        assert "does nothing any more" in str(answer.body)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Refused("You can't see that."), "You can't see that."),
        (RateLimited(3), "busy"),
        (TeamsError(500), "busy"),
        (TimeoutError(), "too long"),
        (RuntimeError("secret"), "Something went wrong on my side. Please try again. Reference: "),
        (KeyError("secret"), "Reference: "),
    ],
)
async def test_whatever_fails_the_person_reads_it(chat: Chat, error: Exception, said: str) -> None:
    chat.bot.refuse["explain"] = error
    shown = words(await chat.opens({"kind": "why", "turn": "t1"}))
    assert said in shown
    assert "secret" not in shown


async def test_no_dialog_takes_longer_than_teams_waits(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DIALOG_SECONDS", 0.01)

    async def never(*_: Any) -> Form:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(chat.bot, "form", never)
    assert "too long" in words(await chat.opens({"kind": "settings"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("adaptiveCard/action", {}),
        ("signin/verifyState", {}),
        ("composeExtension/query", {"commandId": "addToKnowledgeBase"}),
        ("composeExtension/fetchTask", {"commandId": "another"}),
        ("x" * 500, {}),
    ],
)
async def test_what_the_bot_has_nothing_for_is_not_implemented(chat: Chat, name: str, value: Json) -> None:
    answer = await chat.invoke(name, value)
    assert (answer.status, answer.body) == (501, None)


@pytest.mark.parametrize("text", [*HOSTILE, "x" * 90_000, " " * 9, "a\n\nb" * 900])
def test_any_passage_fits(text: str) -> None:
    card = passages_card([citation(passage=text, quote=text[2:8], url=None)] * 10)
    assert size(card) <= limits.CARD_BYTES
    walk(card)
    assert all("<at>" not in run for run in strings(card))
