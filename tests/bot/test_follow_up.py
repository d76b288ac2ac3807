"""Which messages of a thread are for the bot."""

from __future__ import annotations

import pytest

from adapters.conversation import Conversation, Person, Turn
from bot.follow_up import asks, is_for_bot


def turn(text: str) -> Turn:
    return Turn(
        id="t1",
        workspace="w",
        conversation=Conversation(
            platform="slack", tenant="T1", id="C1", kind="public_channel", thread="1.0"
        ),
        asker=Person(id="U1"),
        text=text,
    )


QUESTIONS = [
    "and on weekends?",
    "How long does it take",
    "what about contractors",
    "shorter, please",
    "Wie lange dauert das",
    "¿Y los fines de semana?",
    "dónde está el formulario",
    "combien de jours",
    "周末怎么办",
    "休暇は何日ですか",
    "ลาพักร้อนได้กี่วัน",
    "كم يوما",
]
REMARKS = [
    "thanks, that helps",
    "ok",
    "danke!",
    "I'll forward this to Ann.",
    "👍",
    "done",
    "Ich frage Ben.",
    "",
]


@pytest.mark.parametrize("text", QUESTIONS)
def test_questions(text: str) -> None:
    assert asks(text)
    assert is_for_bot(turn(text), "questions")
    assert is_for_bot(turn(text), "always")
    assert not is_for_bot(turn(text), "mentions")


@pytest.mark.parametrize("text", REMARKS)
def test_remarks(text: str) -> None:
    assert not is_for_bot(turn(text), "questions")


@pytest.mark.parametrize("setting", ["always", "questions", "mentions"])
def test_what_is_said_to_somebody_else_is_not_for_the_bot(setting: str) -> None:
    assert not is_for_bot(turn("@Ann can you check this?"), setting)  # pyright: ignore[reportArgumentType]
