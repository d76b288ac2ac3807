"""Questions and answers in Teams, end to end over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from adapters.conversation import Delta, Working
from adapters.ports import Manner
from tests.adapters.fake_bot import citation
from tests.adapters.scripted import answer_of
from tests.adapters.teams.site import Site, World, open_site
from tests.doubles.teams import TeamsDouble


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def texts(site: Site, conversation: str, thread: str | None = None) -> list[str]:
    return [seen.text for seen in site.answers(conversation, thread)]


async def test_a_question_in_a_personal_chat(site: Site, world: World) -> None:
    await site.ask(world.direct, world.ann, "How often do keys change?")
    [answer] = site.answers(world.direct)
    assert answer.text == "Answer to: How often do keys change?"
    assert answer.generated
    assert answer.asks_feedback
    assert not site.teams.refusals


async def test_a_mention_in_a_channel_is_answered_in_its_thread(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ann, f"{world.at} How often do keys change?")
    [answer] = site.answers(world.general, root)
    assert answer.text == "Answer to: How often do keys change?"
    assert answer.root == root
    assert not site.teams.refusals


async def test_a_mention_in_a_group_chat(site: Site, world: World) -> None:
    await site.ask(world.group, world.ann, f"{world.at} How often?")
    [answer] = site.answers(world.group)
    assert answer.text == "Answer to: How often?"
    assert not site.teams.refusals


async def test_what_the_turn_knows(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ann, f"{world.at} How often?")
    [turn] = site.bot.asked
    assert turn.conversation.kind == "private_channel"
    assert turn.conversation.thread == root
    assert turn.conversation.tenant == world.tenant
    assert (turn.asker.id, turn.asker.name) == (world.ann, "Ann Lee")
    assert not turn.asker.is_guest
    assert not turn.asker.is_admin


async def test_owners_are_admins_where_graph_may_say_so(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path
) -> None:
    world.team.rsc = True
    async with open_site(redis, teams, tmp_path) as site:
        await site.ask(world.general, world.ben, f"{world.at} one")
        await site.ask(world.direct, world.ann, "two")
        assert [turn.asker.is_admin for turn in site.bot.asked] == [True, False]


async def test_a_team_whose_group_no_activity_tells_is_asked_for_it(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path
) -> None:
    root = teams.say(world.general, world.ben, "The build server is down.")
    teams.outbox.deliveries.clear()
    world.team.rsc, teams.rules.group_in_activities = True, False
    async with open_site(redis, teams, tmp_path) as site:
        for number in range(2):
            await site.ask(world.general, world.ben, f"{world.at} what now, {number}?", root)
        assert site.bot.asked[0].asker.is_admin
        assert site.bot.asked[0].history[0].text == "The build server is down."
        assert len(teams.calls_of("team")) == 1


async def test_an_answer_is_streamed_in_a_personal_chat(
    site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MOMENT", "SOON"):
        monkeypatch.setattr(f"adapters.teams.present.{name}", 0.0)
    gates = [asyncio.Event() for _ in range(4)]
    url = "https://kb.example/source/abc"
    site.bot.script = lambda turn: [
        Working(kind="searching", text="Searching your documents"), gates[0],
        Working(kind="reading", text="Reading 3 sources", count=3), gates[1],
        Delta(text="Keys change every 90 days. [1] "), gates[2],
        Delta(text="The old ones work for a day. "), gates[3],
        answer_of(turn, "Keys change every 90 days. [1] The old ones work for a day.",
                  citations=(citation(url=url),)),
    ]  # fmt: skip
    site.teams.say(world.direct, world.ann, "How often?")
    await site.teams.outbox.deliver()
    await until(lambda: site.teams.informed(world.direct) == "Searching your documents…")
    gates[0].set()
    await until(lambda: site.teams.informed(world.direct) == "Reading 3 sources…")
    gates[1].set()
    await until(lambda: texts(site, world.direct) == ["Keys change every 90 days."])
    [growing] = site.answers(world.direct)
    assert not growing.citations  # only the message itself has them
    gates[2].set()
    await until(lambda: "for a day." in texts(site, world.direct)[0])
    gates[3].set()
    await site.settle()
    [answer] = site.answers(world.direct)
    assert answer.final
    assert answer.citations[1]["url"] == url
    assert answer.generated
    assert answer.asks_feedback
    assert not site.teams.refusals


async def test_an_answer_that_is_there_at_once_is_one_message(site: Site, world: World) -> None:
    for place in (world.direct, world.group):
        await site.ask(place, world.ann, f"{world.at} one")
    assert [call.body["type"] for call in site.teams.calls_of("send")] == ["message", "message"]


async def test_a_chat_is_known_from_before_where_graph_may_say_so(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path
) -> None:
    teams.say(world.group, world.ben, "Lunch is at noon.")
    teams.outbox.deliveries.clear()
    teams.world.conversations[world.group].rsc = True
    async with open_site(redis, teams, tmp_path) as site:
        await site.ask(world.group, world.ann, f"{world.at} when is lunch?")
        assert [message.text for message in site.bot.asked[0].history] == ["Lunch is at noon."]


async def test_without_consent_history_is_what_the_bot_has_seen(site: Site, world: World) -> None:
    await site.ask(world.group, world.ben, "Lunch is at noon.")
    await site.ask(world.group, world.ann, f"{world.at} when is lunch?")
    await site.ask(world.group, world.ann, f"{world.at} and dinner?")
    assert [message.text for message in site.bot.asked[1].history] == [
        "when is lunch?",
        "Answer to: when is lunch?",
    ]


async def test_unmentioned_messages_are_history_and_no_questions(site: Site, world: World) -> None:
    site.teams.world.conversations[world.group].rsc = True
    await site.ask(world.group, world.ben, "Lunch is at noon. Or is it?")
    assert site.bot.asked == []
    await site.ask(world.group, world.ann, f"{world.at} when is lunch?")
    assert [message.text for message in site.bot.asked[0].history] == ["Lunch is at noon. Or is it?"]


async def test_a_long_silence_begins_a_new_talk(site: Site, world: World) -> None:
    await site.ask(world.direct, world.ann, "How often do keys change?")
    site.teams.clock.advance(9 * 3600)
    await site.ask(world.direct, world.ann, "Who is on call?")
    assert site.bot.asked[1].history == ()


async def test_a_workspace_may_want_answers_beside_the_thread(site: Site, world: World) -> None:
    site.bot.follow = lambda _turn, _addressed: Manner(answers=True, in_thread=False)
    root = await site.ask(world.general, world.ann, f"{world.at} one")
    [answer] = site.answers(world.general)
    assert answer.root != root
    assert answer.text == "Answer to: one"


async def test_a_follow_up_that_is_not_for_the_bot_is_history(site: Site, world: World) -> None:
    world.team.rsc = True
    root = await site.ask(world.general, world.ann, f"{world.at} one?")
    await site.ask(world.general, world.ben, "I see.", root)
    await site.ask(world.general, world.ann, "And two?", root)
    assert [turn.text for turn in site.bot.asked] == ["one?", "And two?"]
    assert [message.text for message in site.bot.asked[1].history] == ["one?", "Answer to: one?", "I see."]


async def test_a_question_may_begin_as_a_command_does(site: Site, world: World) -> None:
    await site.ask(world.direct, world.ann, "kb ask How often do keys change?")
    assert site.bot.asked[0].text == "How often do keys change?"
