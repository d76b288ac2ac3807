"""Cards, dialogs, thumbs and message actions in a whole Teams, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from adapters.conversation import Turn
from adapters.forms import Feedback
from adapters.ports import Explanation, ExplanationStep
from tests.adapters.fake_bot import citation, document
from tests.adapters.scripted import ScriptedBot, answer_of
from tests.adapters.teams.site import Site, World, open_site
from tests.doubles.teams import TeamsDouble
from tests.doubles.teams.interactions import Answer, Dialog


def shown(answer: Answer) -> Dialog:
    assert isinstance(answer, Dialog)
    return answer


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.teams.uploads.EVERY", 0.0)


async def test_a_person_asks_why_and_rates_the_answer(site: Site, world: World) -> None:
    steps = (ExplanationStep(name="search", title="Searching", start_ms=0, ms=3, lines=("2 passages",)),)
    site.bot.explanation = Explanation(turn_id="t", question="Keys?", steps=steps, total_ms=9)
    root = await site.ask(world.general, world.ann, f"{world.at} How often do keys change?")
    [answer] = site.answers(world.general, root)
    why = shown(await site.teams.click(world.general, answer.id, world.ben, "Why this answer?"))
    assert "Searching" in why.words
    assert "2 passages" in why.words
    await site.teams.feedback(world.general, answer.id, world.ben, "dislike", "Old prices.")
    [rated] = [call[1] for call in site.bot.calls if call[0] == "record"]
    assert rated == Feedback(
        turn_id=site.bot.worked[0], person_id=world.ben, rating="down", reason="Old prices."
    )
    assert not site.teams.wrong_answers
    assert not site.teams.refusals


async def test_a_long_answer_with_many_sources_is_taken_whole(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path
) -> None:
    cited = tuple(
        citation(number=n, label=str(n), title=f"T{n}", url="https://kb.example/s") for n in range(1, 14)
    )
    table = "\n".join(["| a | b |", "| --- | --- |", *(f"| {n} | word |" for n in range(200))])
    text = "\n\n".join(f"{'word ' * 1500}[{n}]" for n in range(1, 14)) + f"\n\n{table}"

    def script(turn: Turn) -> list[Any]:
        return [answer_of(turn, text, citations=cited, notes=("A note",), sensitivity="Internal")]

    async with open_site(redis, teams, tmp_path, bot=ScriptedBot(script=script)) as site:
        await site.ask(world.direct, world.ann, "All of it?")
        answers = site.answers(world.direct)
        assert len(answers) > 2
        words = "\n".join(answer.words for answer in answers)
        assert words.count("word") == 13 * 1500 + 200
        assert sorted({n for answer in answers for n in answer.citations}) == list(range(1, 11))
        assert "12. " in answers[-1].words
        assert "A note" in answers[-1].words
        assert [answer.asks_feedback for answer in answers[-2:]] == [False, True]
        assert all(answer.label["usageInfo"]["name"] == "Internal" for answer in answers)
        assert not teams.refusals


async def test_settings_are_opened_from_a_command_and_saved(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ben, f"{world.at} kb settings")
    [card] = site.answers(world.general, root)
    dialog = shown(await site.teams.click(world.general, card.id, world.ben, "Open settings"))
    saved = shown(await site.teams.submit(dialog, "Save", {"field.x": "new"}))
    assert saved.words == "Saved."
    assert site.bot.calls[-1][1].values == {"x": "new"}
    assert not site.teams.wrong_answers


async def test_documents_are_listed_and_deleted_on_cards(site: Site, world: World) -> None:
    site.bot.documents_there = [document(number) for number in range(1, 13)]
    await site.ask(world.direct, world.ann, "list")
    [listed] = site.answers(world.direct)
    await site.teams.click(world.direct, listed.id, world.ann, "Next")
    await site.settle()
    [listed] = site.answers(world.direct)
    assert "12. keys12.md" in listed.words
    await site.teams.click(world.direct, listed.id, world.ann, "Delete 12")
    await site.settle()
    [_, asked] = site.answers(world.direct)
    await site.teams.click(world.direct, asked.id, world.ann, "Delete")
    await site.settle()
    assert site.answers(world.direct)[-1].words == "“keys12.md” is deleted."
    assert len(site.bot.documents_there) == 11
    assert not site.teams.refusals


async def test_what_a_person_may_see_is_shown_to_nobody_else(site: Site, world: World) -> None:
    site.bot.documents_there = [document(1)]
    root = await site.ask(world.general, world.ann, f"{world.at} kb list")
    [card] = site.answers(world.general, root)
    assert "keys1.md" not in card.words
    dialog = shown(await site.teams.click(world.general, card.id, world.ann, "Show the documents"))
    assert "keys1.md" in dialog.words


async def test_files_of_a_personal_chat_are_added_through_the_dialog(site: Site, world: World) -> None:
    files = [site.teams.world.add_file(name, f"Content of {name}").id for name in ("a.md", "b.md")]
    site.teams.ask(world.ann, "", files=files)
    await site.settle()
    [offer] = site.answers(world.direct)
    dialog = shown(await site.teams.click(world.direct, offer.id, world.ann, "Add these 2 files"))
    done = shown(await site.teams.submit(dialog, "Upload", {"field.labels": "hr"}))
    assert done.words == "I'm adding 2 files. A message shows how it goes."
    await site.settle()
    added = [(list(files), options.labels) for files, options in site.bot.uploads if files]
    assert added == [(["a.md"], ("hr",)), (["b.md"], ("hr",))]
    assert "Added 2 documents" in site.answers(world.direct)[-1].words
    assert not site.teams.wrong_answers
    assert not site.teams.refusals


async def test_any_message_is_added_by_its_own_action(site: Site, world: World) -> None:
    root = site.teams.say(world.general, world.ben, "Keys change every 90 days.")
    await site.settle()
    dialog = shown(await site.teams.message_action(world.general, root, world.ann, "addToKnowledgeBase"))
    done = shown(await site.teams.submit(dialog, "Upload"))
    assert done.words == "I'm adding that message. A message shows how it goes."
    await site.settle()
    [files] = [files for files, _ in site.bot.uploads if files]
    [(name, content)] = files.items()
    assert name.startswith("Keys change every 90 days")
    assert b"Ben Ito" in content
    assert not site.teams.wrong_answers


async def test_the_bot_greets_once_where_it_is_added(site: Site, world: World) -> None:
    site.teams.install(world.direct, world.ann)
    await site.settle()
    [hello] = site.answers(world.direct)
    assert "Hello, I'm Footnote" in hello.words
    site.teams.install(world.direct, world.ann)
    await site.settle()
    assert len(site.answers(world.direct)) == 1
    await site.teams.click(world.direct, hello.id, world.ann, "What does “Keys” say?")
    await site.settle()
    assert site.answers(world.direct)[-1].text == "Answer to: What does “Keys” say?"
    assert not site.teams.refusals
