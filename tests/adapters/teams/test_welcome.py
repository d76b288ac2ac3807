"""First words."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.ports import Refused
from adapters.teams.activity import Joined
from adapters.teams.welcome import welcome
from tests.adapters.teams.acts import ANN, CHANNEL, DIRECT, Chat, words
from tests.adapters.teams.client import buttons


async def test_alone_with_a_person_it_suggests_questions(
    tmp_path: Path,
) -> None:
    activity = await welcome(Chat(tmp_path).teams, Joined(reference=DIRECT, who=ANN))
    card = activity["attachments"][0]["content"]
    assert activity["summary"] == "Hello, I'm Footnote"
    assert "Attach files" in words(card)
    (asked,) = buttons(card)
    assert asked["data"] == {"msteams": {"type": "imBack", "value": "What does “Keys” say?"}}


@pytest.mark.parametrize("kind", ["group", "private_channel", "shared_channel"])
async def test_where_others_read_along_it_names_no_document(tmp_path: Path, kind: str) -> None:
    reference = CHANNEL.model_copy(update={"kind": kind})
    activity = await welcome(Chat(tmp_path).teams, Joined(reference=reference, who=ANN))
    card = activity["attachments"][0]["content"]
    assert "Mention me with a question" in words(card)
    assert buttons(card) == []


@pytest.mark.parametrize("error", [Refused("no"), RuntimeError("no store")])
async def test_a_greeting_comes_without_suggestions_too(
    tmp_path: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = Chat(tmp_path)

    async def fails(*_: object, **__: object) -> list[str]:
        raise error

    monkeypatch.setattr(chat.bot, "suggestions", fails)
    activity = await welcome(chat.teams, Joined(reference=DIRECT, who=ANN))
    assert "Hello" in words(activity["attachments"][0]["content"])
