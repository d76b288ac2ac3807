"""Typed commands and clicks on their cards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.kb import VERBS, Command
from adapters.ports import Refused
from adapters.teams.activity import Said
from adapters.teams.commands import command_of, question_of, run_click, run_command
from adapters.teams.reference import Reference
from tests.adapters.fake_bot import FakeBot, document
from tests.adapters.teams.acts import ANN, BEN, CHANNEL, DIRECT, Chat, Json, words
from tests.adapters.teams.client import button, buttons, sent

FILE = {"contentType": "application/vnd.microsoft.teams.file.download.info", "name": "a.pdf"}


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    bot = FakeBot(documents_there=[document(number) for number in range(1, 14)])
    return Chat(tmp_path, bot)


def typed(text: str, reference: Reference = DIRECT, *, files: bool = False) -> Command | None:
    said = Said(reference=reference, id="m", who=ANN, text=text, files=(FILE,) if files else ())
    return command_of(said)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("list", Command("list")), ("List", Command("list")), ("/list", Command("list")),
        ("kb list", Command("list")), ("/kb list", Command("list")), ("KB: list 2", Command("list", "2")),
        ("list 2", Command("list", "2")), ("upload", Command("upload")), ("help", Command("help")),
        ("/", Command("help")), ("kb", Command("help")), ("status", Command("status")),
        ("settings", Command("settings")), ("search api keys", Command("search", "api keys")),
        ("search", Command("search")), ("delete keys.md", Command("delete", "keys.md")),
        ("kb search how do keys change?", Command("search", "how do keys change?")),
        ("/lst", Command("unknown", "", "list")),
    ],
)  # fmt: skip
def test_commands_of_a_chat_with_the_bot_alone(text: str, command: Command) -> None:
    assert typed(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "list all holidays", "help me with my keys", "status of the project?", "settings of the printer",
        "upload limits", "list?", "search engines: which do we use?", "delete my account?", "search for "
        "what the handbook says of keys and holidays and days", "kb settings for the printer?",
        "kb list all public holidays", "kb ask How often?", "kb how often do keys change?",
        "KB5034441 fails", "kbd shortcuts", "/etc/hosts holds which names?",
        "How often do keys change", "lists", "",
    ],
)  # fmt: skip
def test_a_question_is_never_taken_for_a_command(text: str) -> None:
    assert typed(text) is None


@given(st.sampled_from((*VERBS, "kb list", "/settings")), st.text(max_size=40))
def test_what_ends_with_a_question_mark_is_a_question_but_for_a_search(verb: str, rest: str) -> None:
    command = typed(f"{verb} {rest} x?")
    assert command is None or command.verb == "search"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("kb list", Command("list")), ("list", Command("list")), ("list 2", None),
        ("search api keys", None), ("kb search api keys", Command("search", "api keys")),
        ("delete keys.md", None), ("kb delete keys.md", Command("delete", "keys.md")),
    ],
)  # fmt: skip
def test_where_others_read_along_words_need_kb(text: str, command: Command | None) -> None:
    assert typed(text, CHANNEL) == command


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("", Command("upload")), ("upload", Command("upload")), ("please add these", Command("upload")),
        ("What does this say?", None), ("add up the sums in it?", None), ("Summarise this", None),
    ],
)  # fmt: skip
def test_files_without_a_question_are_to_be_added(text: str, command: Command | None) -> None:
    assert typed(text, files=True) == command


def test_in_a_channel_files_alone_are_no_command() -> None:
    assert typed("", CHANNEL, files=True) is None


def test_ask_is_taken_off_the_question() -> None:
    assert question_of("kb ask How often?") == "How often?"
    assert question_of("kb list") == "kb list"
    assert question_of("How often?") == "How often?"


async def run(chat: Chat, text: str, **more: Any) -> Json:
    (activity,) = await run_command(chat.teams, chat.said(text, **more))
    return activity["attachments"][0]["content"]


async def test_help_says_how_things_are_typed_there(chat: Chat) -> None:
    assert "list: the documents that you can ask about" in words(await run(chat, "help"))
    assert "kb list: the documents" in words(await run(chat, "kb help", reference=CHANNEL))


async def test_what_is_mistyped_is_guessed(chat: Chat) -> None:
    shown = words(await run(chat, "/lst 2"))
    assert "I don't know “lst”. Did you mean: list 2" in shown
    assert "What I can do" in shown


async def test_list_turns_its_pages_on_the_same_card(chat: Chat) -> None:
    card = await run(chat, "list")
    activities, update = await click(chat, card, "Next")
    assert activities == []
    assert update is not None
    assert words(update).startswith("13 documents, page 2 of 2\n11. keys11.md")


async def test_delete_asks_first_on_a_card_of_its_own(chat: Chat) -> None:
    (asked,), update = await click(chat, await run(chat, "list"), "Delete 3")
    assert update is None
    assert await run(chat, "delete keys3.md") == asked
    _, kept = await click(chat, asked, "Keep it")
    assert kept is not None
    assert words(kept) == "Nothing was deleted."
    _, gone = await click(chat, asked, "Delete")
    assert gone is not None
    assert words(gone) == "“keys3.md” is deleted."
    assert ("delete", "d3") in chat.bot.calls
    assert len(chat.bot.documents_there) == 12


async def test_several_that_are_meant_are_chosen_from(chat: Chat) -> None:
    card = await run(chat, "delete keys1")
    assert [one["title"] for one in buttons(card)] == [f"Delete {n}" for n in range(1, 6)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("delete", "Say which one"), ("search", "Type what to search for"),
        ("delete nothing.md", "There is no document “nothing.md”"),
    ],
)  # fmt: skip
async def test_what_cannot_be_done_is_said(chat: Chat, text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        await run(chat, text)


async def test_what_one_may_not_delete_is_refused_also_on_a_click(chat: Chat) -> None:
    card = await run(chat, "list")
    chat.bot.documents_there = [document(number, editable=False) for number in range(1, 14)]
    with pytest.raises(Refused, match="Only the one who added it"):
        await run(chat, "delete keys3.md")
    with pytest.raises(Refused, match="Only the one who added it"):
        await click(chat, card, "Delete 3")


@pytest.mark.parametrize("text", ["kb list", "kb status", "kb search soup", "kb delete keys3.md"])
async def test_where_others_read_along_a_dialog_shows_it(chat: Chat, text: str) -> None:
    card = await run(chat, text, reference=CHANNEL)
    assert words(card) == "Only you see what opens."
    (opens,) = buttons(card)
    shown = await chat.opens(opens["data"], reference=CHANNEL, who=BEN)
    assert "keys" in words(shown).lower() or "13 ready" in words(shown) or "soup" in words(shown)


async def test_settings_are_opened_by_those_who_may(chat: Chat) -> None:
    card = await run(chat, "settings")
    assert button(card, "Open settings") == {"kind": "settings", "msteams": {"type": "task/fetch"}}
    chat.bot.refuse["form"] = Refused("Only admins can change the settings.")
    with pytest.raises(Refused, match="Only admins"):
        await run(chat, "settings")


async def test_a_search_shows_passages(chat: Chat) -> None:
    card = await run(chat, "search soup")
    assert chat.bot.calls[-1] == ("search", "soup", "hybrid")
    assert "1. Menu · p. 2 · score 0.5000" in words(card)


@pytest.mark.parametrize("value", [{}, {"kind": "nothing"}, {"kind": 3}, {"kind": ["page"]}])
async def test_a_click_on_nothing_that_is_known_is_refused(chat: Chat, value: Json) -> None:
    with pytest.raises(Refused, match="does nothing any more"):
        await run_click(chat.teams, chat.said(value=value))


@pytest.mark.parametrize("page", [None, "x", -1, 10**9, [], "²"])
async def test_a_page_that_is_none_is_the_first(chat: Chat, page: Any) -> None:
    _, update = await run_click(chat.teams, chat.said(value={"kind": "page", "page": page}, reply_to="a"))
    assert update is not None
    assert "page 1 of 2" in words(update["attachments"][0]["content"])


async def click(chat: Chat, card: Json, title: str) -> tuple[list[Json], Json | None]:
    """Cards of what is posted, and the card that takes the clicked one's place."""
    said = chat.said(value=sent(card, title), reply_to="a1")
    posted, update = await run_click(chat.teams, said)
    cards = [one["attachments"][0]["content"] for one in posted]
    return cards, update["attachments"][0]["content"] if update is not None else None
