"""Thumbs: whatever well-formed one comes is answered with nothing, and kept with the answer it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.forms import Feedback
from adapters.ports import Refused
from adapters.teams.context import InvokeAnswer
from adapters.teams.feedback import read_feedback
from adapters.teams.posted import note_activity
from tests.adapters.teams.acts import CHANNEL, DIRECT, Chat, Json

NAME = "message/submitAction"
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


def thumb(reaction: str = "like", feedback: Any = '{"feedbackText":"Old prices."}') -> Json:
    return {"actionName": "feedback", "actionValue": {"reaction": reaction, "feedback": feedback}}


@pytest.fixture
async def chat(tmp_path: Path) -> Chat:
    chat = Chat(tmp_path)
    await note_activity(chat.teams, DIRECT, "a1", "t1")
    return chat


@pytest.mark.parametrize(("reaction", "rating"), [("like", "up"), ("dislike", "down")])
async def test_a_thumb_is_kept_with_its_words(chat: Chat, reaction: str, rating: Any) -> None:
    assert await chat.invoke(NAME, thumb(reaction), reply_to="a1") == InvokeAnswer(200, None)
    assert chat.bot.calls == [
        ("record", Feedback(turn_id="t1", person_id="aad-ann", rating=rating, reason="Old prices."))
    ]


@pytest.mark.parametrize(
    ("feedback", "reason"),
    [
        ("{}", ""), ("", ""), (None, ""), ("just words", "just words"), ({"feedbackText": " x "}, "x"),
        (json.dumps({"a": "one", "b": "two", "c": 3}), "one\ntwo"), ("[" * 100_000, "[" * 3_000),
        (json.dumps({"feedbackText": "y" * 9_000}), "y" * 3_000), ('"a string"', "a string"), ("3", ""),
    ],
)  # fmt: skip
def test_words_come_in_teams_own_form_and_in_others(feedback: Any, reason: str) -> None:
    assert read_feedback(thumb("like", feedback)) == ("up", reason)


async def test_a_thumb_in_a_channel_is_found_from_any_of_its_threads_names(chat: Chat) -> None:
    await note_activity(
        chat.teams, CHANNEL.model_copy(update={"conversation": CHANNEL.channel}), "a2", "t2"
    )
    await chat.invoke(NAME, thumb(), reference=CHANNEL, reply_to="a2")
    assert chat.bot.calls[0][1].turn_id == "t2"


@pytest.mark.parametrize("reply_to", [None, "a9"])
async def test_a_thumb_under_what_is_not_known_any_more_is_well_formed_too(
    chat: Chat, reply_to: str | None
) -> None:
    assert await chat.invoke(NAME, thumb(), reply_to=reply_to) == InvokeAnswer(200, None)
    assert chat.bot.calls == []


async def test_a_refused_thumb_is_answered_with_nothing(chat: Chat) -> None:
    chat.bot.refuse["record"] = Refused("Not yours.")
    assert await chat.invoke(NAME, thumb(), reply_to="a1") == InvokeAnswer(200, None)


async def test_one_that_could_not_be_kept_is_an_error_that_teams_tells(chat: Chat) -> None:
    chat.bot.refuse["record"] = RuntimeError("no store")
    assert await chat.invoke(NAME, thumb(), reply_to="a1") == InvokeAnswer(500, None)


@given(ANYTHING, ANYTHING, st.sampled_from(("feedback", "other")))
def test_nothing_that_is_sent_raises(reaction: Any, feedback: Any, name: str) -> None:
    read_feedback({"actionName": name, "actionValue": {"reaction": reaction, "feedback": feedback}})
    read_feedback({"actionName": name, "actionValue": feedback})


async def test_what_is_no_thumb_is_a_bad_request(chat: Chat) -> None:
    for value in ({}, {"actionName": "other"}, thumb("love"), {"actionName": "feedback", "actionValue": 3}):
        assert await chat.invoke(NAME, value, reply_to="a1") == InvokeAnswer(400, None)
