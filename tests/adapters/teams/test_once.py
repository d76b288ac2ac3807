"""Each question has exactly one visible end, whatever Teams, the network or a kill does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from adapters.conversation import Delta, Working
from adapters.ports import Manner
from tests.adapters.scripted import ScriptedBot, answer_of
from tests.adapters.teams.site import Site, World, open_site
from tests.doubles.teams import (
    BAD_GATEWAY,
    GATEWAY_TIMEOUT,
    PRECONDITION,
    Breaks,
    Drops,
    Expires,
    Fails,
    RateLimited,
    TeamsDouble,
)


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is on its way is shown without waiting."""
    for name in ("MOMENT", "SOON", "PATIENCE", "EDIT_EVERY", "EDIT_SLOWER"):
        monkeypatch.setattr(f"adapters.teams.present.{name}", 0.0)


def texts(site: Site, conversation: str, thread: str | None = None) -> list[str]:
    return [seen.text for seen in site.answers(conversation, thread)]


# -- twice, never, to itself -----------------------------------------------------------------------


async def test_an_activity_that_comes_again_is_answered_once(site: Site, world: World) -> None:
    """Teams tells what was not acknowledged within 15 seconds again."""
    root = await site.ask(world.general, world.ann, f"{world.at} How often?")
    for delivery in list(site.teams.outbox.deliveries):
        assert (await site.teams.outbox.again(delivery)).status == 201
    await site.settle()
    assert texts(site, world.general, root) == ["Answer to: How often?"]


async def test_activities_are_acknowledged_before_they_are_answered(site: Site, world: World) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda turn: [gate, answer_of(turn)]
    site.teams.say(world.direct, world.ann, "one")
    [delivery] = await site.teams.outbox.deliver()
    assert delivery.acknowledged
    assert delivery.status == 201
    assert texts(site, world.direct) == []
    gate.set()
    await site.settle()
    assert texts(site, world.direct) == ["Answer to: one"]


async def test_what_was_sent_while_the_bot_was_down_is_answered(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path
) -> None:
    teams.outbox.url = "http://127.0.0.1:9/api/messages"
    teams.say(world.direct, world.ann, "one")
    await teams.outbox.deliver()
    [lost] = teams.outbox.lost
    async with open_site(redis, teams, tmp_path) as site:
        assert (await teams.outbox.again(lost)).status == 201
        await site.settle()
        assert texts(site, world.direct) == ["Answer to: one"]


async def test_edits_and_its_own_messages_are_no_questions(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ann, f"{world.at} How often?")
    site.teams.edit(world.general, root, f"{world.at} How often, really?")
    await site.settle()
    assert len(site.bot.asked) == 1
    assert (await site.history(world.general, root))[0].text == "How often, really?"


async def test_an_edit_that_adds_the_mention_asks(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ann, "How often?")
    assert site.bot.asked == []
    site.teams.edit(world.general, root, f"{world.at} How often?")
    await site.settle()
    assert texts(site, world.general, root) == ["Answer to: How often?"]


async def test_two_questions_of_one_chat_are_answered_one_after_the_other(site: Site, world: World) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda turn: [gate, answer_of(turn)]
    site.teams.say(world.direct, world.ann, "one")
    site.teams.say(world.direct, world.ann, "two")
    await site.teams.outbox.deliver()
    await until(lambda: site.bot.asked)
    assert [turn.text for turn in site.bot.asked] == ["one"]
    gate.set()
    await site.settle()
    assert texts(site, world.direct) == ["Answer to: one", "Answer to: two"]


@pytest.mark.usefixtures("at_once")
async def test_what_cannot_become_the_reply_goes_when_the_reply_is_there(site: Site, world: World) -> None:
    """An edit that Teams refuses for good would be refused again and again."""
    gate = asyncio.Event()
    site.bot.script = lambda turn: [Working(kind="searching", text="Searching"), gate, answer_of(turn)]
    root = site.teams.say(world.general, world.ann, f"{world.at} How often?")
    await site.teams.outbox.deliver()
    await until(lambda: site.answers(world.general, root))
    site.teams.faults.next("update", Fails(400, "BadSyntax"))
    gate.set()
    await site.settle()
    assert texts(site, world.general, root) == ["Answer to: How often?"]


@pytest.mark.usefixtures("at_once")
async def test_what_can_become_neither_the_reply_nor_nothing_says_where_the_reply_is(
    site: Site, world: World
) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda turn: [Working(kind="searching", text="Searching"), gate, answer_of(turn)]
    root = site.teams.say(world.general, world.ann, f"{world.at} How often?")
    await site.teams.outbox.deliver()
    await until(lambda: site.answers(world.general, root))
    site.teams.faults.next("update", Fails(400, "BadSyntax"))
    site.teams.faults.next("delete", Fails(403, "Forbidden"))
    gate.set()
    await site.settle()
    assert texts(site, world.general, root) == [
        "My answer is in the next message.",
        "Answer to: How often?",
    ]


# -- what people take back -------------------------------------------------------------------------


@pytest.mark.usefixtures("at_once")
async def test_a_deleted_question_takes_its_unfinished_answer_with_it(site: Site, world: World) -> None:
    site.bot.script = lambda _turn: [Working(kind="searching", text="Searching"), asyncio.Event()]
    root = site.teams.say(world.general, world.ann, f"{world.at} one")
    await site.teams.outbox.deliver()
    await until(lambda: site.answers(world.general, root))
    site.teams.delete(world.general, root)
    await site.settle()
    assert site.answers(world.general, root) == []
    assert site.bot.worked == []


async def test_an_answer_that_is_there_stays_when_its_question_goes(site: Site, world: World) -> None:
    message = await site.ask(world.direct, world.ann, "one")
    site.teams.delete(world.direct, message)
    await site.settle()
    assert texts(site, world.direct) == ["Answer to: one"]


@pytest.mark.usefixtures("at_once")
async def test_stop_ends_the_answer_where_it_is(site: Site, world: World) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda _turn: [
        Delta(text="The first half. "), gate, Delta(text="The second half. And"), asyncio.Event(),
    ]  # fmt: skip
    site.teams.say(world.direct, world.ann, "one")
    await site.teams.outbox.deliver()
    await until(lambda: texts(site, world.direct) == ["The first half."])
    site.teams.stop(world.direct)
    gate.set()
    await site.settle()
    assert texts(site, world.direct) == ["The first half."]
    assert site.bot.worked == []


@pytest.mark.usefixtures("at_once")
async def test_stop_before_the_first_word_says_that_it_stopped(site: Site, world: World) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda _turn: [
        Working(kind="searching", text="Searching"), gate, Working(kind="reading", text="Reading"),
        asyncio.Event(),
    ]  # fmt: skip
    site.teams.say(world.direct, world.ann, "one")
    await site.teams.outbox.deliver()
    await until(lambda: site.teams.informed(world.direct))
    site.teams.stop(world.direct)
    gate.set()
    await site.settle()
    assert texts(site, world.direct) == ["Stopped, as you asked."]


# -- bad days --------------------------------------------------------------------------------------

NO_EFFECT = (
    RateLimited(0), RateLimited(None), PRECONDITION, BAD_GATEWAY, GATEWAY_TIMEOUT, Expires(), Breaks(),
)  # fmt: skip


@pytest.mark.parametrize("fault", NO_EFFECT, ids=lambda fault: repr(fault)[:40])
@pytest.mark.parametrize("where", ["direct", "group", "general"])
async def test_a_post_that_is_refused_for_now_is_there_once(
    site: Site, world: World, fault: Any, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.teams.rest.DEFAULT_WAIT", 0.0)
    site.teams.faults.next("send", fault)
    place = getattr(world, where)
    await site.ask(place, world.ann, f"{world.at} one")
    assert texts(site, place) == ["Answer to: one"]


@pytest.mark.parametrize("fault", [Breaks(effect=True, status=500), Drops(effect=True), Drops()])
@pytest.mark.parametrize("where", ["group", "general"])
async def test_a_post_without_an_answer_is_looked_for_with_graph(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path, fault: Any, where: str
) -> None:
    world.team.rsc = True
    teams.world.conversations[world.group].rsc = True
    async with open_site(redis, teams, tmp_path) as site:
        place = getattr(world, where)
        teams.faults.next("send", fault)
        await site.ask(place, world.ann, f"{world.at} one")
        assert texts(site, place) == ["Answer to: one"]


@pytest.mark.parametrize("fault", [Breaks(effect=True, status=500), Drops(effect=True), Drops()])
@pytest.mark.usefixtures("at_once")
async def test_the_end_of_a_stream_can_be_told_again(site: Site, world: World, fault: Any) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda turn: [Delta(text="The first half. "), gate, answer_of(turn, "All of it.")]
    site.teams.say(world.direct, world.ann, "one")
    await site.teams.outbox.deliver()
    await until(lambda: texts(site, world.direct) == ["The first half."])
    site.teams.faults.next("send", fault)
    gate.set()
    await site.settle()
    assert texts(site, world.direct) == ["All of it."]


@pytest.mark.usefixtures("at_once")
async def test_a_stream_that_takes_too_long_ends_as_a_message(site: Site, world: World) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda turn: [Delta(text="The first half. "), gate, answer_of(turn, "All of it.")]
    site.teams.say(world.direct, world.ann, "one")
    await site.teams.outbox.deliver()
    await until(lambda: texts(site, world.direct) == ["The first half."])
    site.teams.clock.advance(121)
    gate.set()
    await site.settle()
    assert texts(site, world.direct) == ["All of it."]


@pytest.mark.usefixtures("at_once")
async def test_the_two_minutes_of_a_stream_are_foreseen(
    site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda turn: [
        Delta(text="The first half. "), gate, Delta(text="More. And "), last,
        answer_of(turn, "All of it."),
    ]  # fmt: skip
    last = asyncio.Event()
    site.teams.say(world.direct, world.ann, "one")
    await site.teams.outbox.deliver()
    await until(lambda: texts(site, world.direct) == ["The first half."])
    monkeypatch.setattr("adapters.teams.present.STREAM_SECONDS", -1.0)
    gate.set()
    await until(lambda: "The answer follows." in texts(site, world.direct)[0])
    last.set()
    await site.settle()
    assert texts(site, world.direct) == ["All of it."]
    assert not site.teams.refusals


async def test_without_streams_the_answer_comes_as_a_message(site: Site, world: World) -> None:
    site.teams.rules.streaming = False
    await site.ask(world.direct, world.ann, "one")
    assert texts(site, world.direct) == ["Answer to: one"]


async def test_what_is_too_large_after_all_is_told_shorter(site: Site, world: World) -> None:
    site.bot.script = lambda turn: [answer_of(turn, "word " * 4_000)]
    site.teams.faults.next("send", Fails(413, "MessageSizeTooBig", "Message size too large"))
    await site.ask(world.group, world.ann, f"{world.at} one")
    (answer,) = site.answers(world.group)
    assert answer.text.startswith("word word")
    assert "longer than Teams can show" in answer.text


@pytest.mark.parametrize("code", ["BotNotInConversationRoster", "MessageWritesBlocked"])
async def test_who_asked_is_told_elsewhere_where_there_is_no_place(
    site: Site, world: World, code: str
) -> None:
    root = site.teams.say(world.general, world.ann, f"{world.at} one")
    site.teams.world.conversations[world.general].blocked = code
    await site.settle()
    assert texts(site, world.general, root) == []
    (told,) = texts(site, world.direct)
    assert "I can't write where you asked me" in told


@pytest.mark.usefixtures("at_once")
async def test_a_message_that_somebody_deleted_is_posted_again(site: Site, world: World) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda turn: [Working(kind="searching", text="Searching"), gate, answer_of(turn)]
    site.teams.say(world.group, world.ann, f"{world.at} one")
    await site.teams.outbox.deliver()
    await until(lambda: site.answers(world.group))
    site.teams.faults.next("update", Fails(404, "ActivityNotFoundInConversation"))
    gate.set()
    await site.settle()
    assert "Answer to: one" in texts(site, world.group)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("where", ["direct", "group"])
async def test_what_is_shown_on_the_way_never_holds_up_the_answer(
    site: Site, world: World, where: str
) -> None:
    """Teams wants to be left alone for ten minutes when it is told of the search."""
    place, gate = getattr(world, where), asyncio.Event()
    site.bot.script = lambda turn: [Working(kind="searching", text="Searching"), gate, answer_of(turn)]
    site.teams.faults.next("send", None, RateLimited(600))  # after the sign that somebody types
    site.teams.say(place, world.ann, f"{world.at} one")
    await site.teams.outbox.deliver()
    await until(lambda: len(site.teams.calls_of("send")) == 2)
    gate.set()
    await site.settle()
    assert texts(site, place) == ["Answer to: one"]


# -- kills -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("where", ["direct", "group", "general"])
async def test_an_answer_on_its_way_is_finished_by_the_next_process(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path, where: str
) -> None:
    place = getattr(world, where)
    bot = ScriptedBot()
    bot.script = lambda _turn: [Delta(text="The first half. "), asyncio.Event()]
    async with open_site(redis, teams, tmp_path, bot=bot) as site:
        teams.say(place, world.ann, f"{world.at} one")
        await teams.outbox.deliver()
        await until(lambda: any("first half" in text for text in texts(site, place)))
    bot.script = lambda turn: [answer_of(turn, "All of it.")]
    async with open_site(redis, teams, tmp_path, bot=bot) as site:
        await site.settle()
        assert texts(site, place) == ["All of it."]


async def test_a_question_that_kills_again_and_again_ends_with_an_apology(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path
) -> None:
    bot = ScriptedBot()
    bot.script = lambda _turn: [asyncio.Event()]
    for number in range(1, 4):
        async with open_site(redis, teams, tmp_path, bot=bot):
            if number == 1:
                teams.say(world.direct, world.ann, "one")
                await teams.outbox.deliver()
            await until(lambda number=number: len(bot.asked) == number)
    async with open_site(redis, teams, tmp_path, bot=bot) as site:
        await site.settle()
        (apology,) = site.answers(world.direct)
        assert "Something went wrong on my side" in apology.text
        assert "Reference: " in apology.words


async def test_an_answer_that_raises_ends_with_an_apology(site: Site, world: World) -> None:
    def follow(_turn: Any, _addressed: bool) -> Manner:
        raise ValueError

    site.bot.follow = follow
    await site.ask(world.direct, world.ann, "one")
    (apology,) = site.answers(world.direct)
    assert "Something went wrong on my side" in apology.text
