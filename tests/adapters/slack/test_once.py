"""Each question has exactly one visible end, whatever Slack, the network or a kill does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from adapters.conversation import Delta, Working
from tests.adapters.scripted import ScriptedBot, answer_of
from tests.adapters.slack.site import Site, World, open_site
from tests.doubles.slack import Breaks, Drops, Fails, RateLimited, SlackDouble


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


# -- twice, never, to itself -----------------------------------------------------------------------


async def test_a_mention_that_comes_as_two_events_is_one_question(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, f"{world.mention} How often?")
    kinds = [delivery.event["type"] for delivery in site.slack.outbox.deliveries]
    assert kinds.count("app_mention") == 1
    assert kinds.count("message") >= 1
    assert len(site.bot.asked) == len(site.replies(world.general, ts)) == 1


async def test_events_that_come_again_are_answered_once(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, f"{world.mention} How often?")
    for delivery in list(site.slack.outbox.deliveries):
        assert (await site.slack.outbox.duplicate(delivery)).status == 200
    await site.settle()
    assert len(site.replies(world.general, ts)) == 1


async def test_what_was_sent_while_the_bot_was_down_is_answered(
    redis: Redis, slack: SlackDouble, world: World, tmp_path: Path
) -> None:
    """Retries carry a header; dropping them by it would lose what Slack could not deliver before."""
    slack.outbox.url = "http://127.0.0.1:9/slack/events"
    ts = slack.say(world.general, world.ann, f"{world.mention} How often?")
    await slack.outbox.deliver()
    assert slack.outbox.lost
    async with open_site(redis, slack, tmp_path) as site:
        await slack.outbox.deliver(lost=True)
        await site.settle()
        assert len(site.replies(world.general, ts)) == 1


async def test_edits_unfurls_and_its_own_messages_are_no_questions(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, f"{world.mention} How often?")
    (reply,) = site.replies(world.general, ts)
    for _ in range(50):
        site.slack.unfurl(world.general, ts)
        site.slack.unfurl(world.general, reply.ts)
    site.slack.edit(world.general, ts, f"{world.mention} How often, really?")
    await site.settle()
    assert len(site.replies(world.general, ts)) == 1
    assert len(site.bot.asked) == 1
    texts = [message.text for message in await site.history(world.general, ts)]
    assert texts[0] == "How often, really?"


async def test_other_bots_are_not_answered(site: Site, world: World) -> None:
    ts = site.slack.say_as_other_bot(world.general, f"{world.mention} build 7 failed?")
    await site.settle()
    assert site.replies(world.general, ts) == []
    direct = site.slack.say_as_other_bot(world.direct, "ping?")
    await site.settle()
    assert site.replies(world.direct, direct) == []


async def test_an_edit_that_adds_the_mention_asks(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, "How often?")
    site.slack.edit(world.general, ts, f"{world.mention} How often?")
    await site.settle()
    assert len(site.replies(world.general, ts)) == 1


async def test_two_questions_in_one_thread_are_answered_one_after_the_other(
    site: Site, world: World
) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda turn: [gate, answer_of(turn)]
    ts = site.slack.say(world.general, world.ann, f"{world.mention} one")
    site.slack.say(world.general, world.ann, f"{world.mention} two", ts)
    await site.slack.outbox.deliver()
    await until(lambda: site.bot.asked)
    assert [turn.text for turn in site.bot.asked] == ["one"]
    gate.set()
    await site.settle()
    texts = [seen.message.text for seen in site.replies(world.general, ts)]
    assert texts == ["Answer to: one", "Answer to: two"]


# -- what people take back -------------------------------------------------------------------------


async def test_a_deleted_question_takes_its_unfinished_answer_with_it(site: Site, world: World) -> None:
    site.slack.rules.streaming = False
    site.bot.script = lambda _turn: [Working(kind="searching", text="Searching"), asyncio.Event()]
    ts = site.slack.say(world.general, world.ann, f"{world.mention} one")
    await site.slack.outbox.deliver()
    await until(lambda: site.replies(world.general, ts))
    site.slack.delete(world.general, ts)
    await site.settle()
    assert site.replies(world.general, ts) == []
    assert site.bot.worked == []


async def test_a_question_that_is_deleted_before_it_is_told_is_not_answered(
    site: Site, world: World
) -> None:
    ts = site.slack.say(world.general, world.ann, f"{world.mention} one")
    site.slack.delete(world.general, ts)
    site.slack.outbox._waiting.reverse()  # pyright: ignore[reportPrivateUsage]
    await site.settle()
    assert site.bot.asked == []


async def test_an_answer_that_is_there_stays_when_its_question_goes(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    site.slack.delete(world.general, ts)
    await site.settle()
    assert len(site.replies(world.general, ts)) == 1


@pytest.mark.parametrize("streaming", [True, False])
async def test_stop_ends_the_answer_where_it_is(site: Site, world: World, streaming: bool) -> None:
    site.slack.rules.streaming = streaming
    site.bot.script = lambda _turn: [Delta(text="The first half. "), asyncio.Event()]
    ts = site.slack.say(world.general, world.ann, f"{world.mention} one")
    await site.slack.outbox.deliver()
    await until(lambda: site.replies(world.general, ts))
    site.slack.press_stop(world.general, ts, world.ann)
    await site.settle()
    (reply,) = site.replies(world.general, ts)
    assert "The first half." in reply.text
    assert "Stopped, as you asked." in reply.text


# -- bad days --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault", [RateLimited(0), Breaks(effect=True), Breaks(), Drops(effect=True), Drops()]
)
@pytest.mark.parametrize("times", [1, 3])
async def test_a_post_whose_answer_is_lost_is_there_once(
    site: Site, world: World, fault: Any, times: int
) -> None:
    site.slack.faults.next("chat.postMessage", fault, times=times)
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    assert [seen.message.text for seen in site.replies(world.general, ts)] == ["Answer to: one"]


@pytest.mark.parametrize(
    "fault", [Breaks(effect=True), Breaks(), Drops(effect=True), Fails("internal_error")]
)
@pytest.mark.parametrize(
    "method", ["chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"]
)
async def test_a_stream_that_breaks_ends_as_one_message(
    site: Site, world: World, method: str, fault: Any
) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda turn: [
        Delta(text="The first half. "),
        gate,
        Delta(text="The second half. "),
        answer_of(turn, "All of it."),
    ]
    site.slack.faults.next(method, fault)
    ts = site.slack.say(world.general, world.ann, f"{world.mention} one")
    await site.slack.outbox.deliver()
    await until(lambda: site.slack.calls_of("chat.startStream"))
    gate.set()
    await site.settle()
    assert [seen.message.text for seen in site.replies(world.general, ts)] == ["All of it."]


async def test_a_stream_that_slack_ended_goes_on_as_edits(site: Site, world: World) -> None:
    gate = asyncio.Event()
    site.bot.script = lambda turn: [Delta(text="The first half. "), gate, answer_of(turn, "All of it.")]
    ts = site.slack.say(world.general, world.ann, f"{world.mention} one")
    await site.slack.outbox.deliver()
    await until(lambda: site.slack.calls_of("chat.startStream"))
    site.slack.clock.advance(301)
    gate.set()
    await site.settle()
    assert [seen.message.text for seen in site.replies(world.general, ts)] == ["All of it."]


async def test_an_answer_outlasts_an_outage_of_slack(site: Site, world: World) -> None:
    """What was answered is delivered when Slack is back, and not apologised for."""
    site.slack.faults.next("chat.postMessage", Breaks(), times=22)
    site.slack.faults.next("conversations.replies", Breaks(), times=50)
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    site.slack.faults.clear()
    await site.settle()
    assert [seen.message.text for seen in site.replies(world.general, ts)] == ["Answer to: one"]
    assert len(site.bot.worked) == 1


async def test_blocks_that_slack_refuses_leave_the_words(site: Site, world: World) -> None:
    site.slack.faults.next("chat.postMessage", Fails("invalid_blocks"))
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    assert [seen.message.text for seen in site.replies(world.general, ts)] == ["Answer to: one"]


@pytest.mark.parametrize(
    "code", ["not_in_channel", "channel_not_found", "is_archived", "restricted_action"]
)
async def test_where_the_bot_may_not_write_the_asker_is_told(site: Site, world: World, code: str) -> None:
    site.slack.faults.next("chat.postMessage", Fails(code))
    await site.ask(world.general, world.ann, f"{world.mention} one")
    (told,) = [seen for seen in site.slack.visible(world.direct) if seen.by_bot]
    assert "I can't write where you asked me" in told.text


async def test_a_direct_message_whose_root_is_gone_is_answered_all_the_same(
    site: Site, world: World
) -> None:
    site.slack.faults.next("chat.postMessage", Fails("invalid_thread_ts"))
    await site.ask(world.direct, world.ann, "one")
    assert len([seen for seen in site.slack.visible(world.direct) if seen.by_bot]) == 1


async def test_a_revoked_token_is_the_end_and_no_storm(site: Site, world: World) -> None:
    site.slack.faults.next("chat.postMessage", Fails("token_revoked"))
    await site.ask(world.general, world.ann, f"{world.mention} one")
    assert len(site.slack.calls_of("chat.postMessage")) == 1


async def test_a_bot_that_fails_apologises_with_a_reference(site: Site, world: World) -> None:
    site.bot.script = lambda _turn: [RuntimeError("the model is away")]
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    (reply,) = site.replies(world.general, ts)
    assert "Something went wrong on my side" in reply.text
    assert f"Reference: {site.bot.asked[0].id}" in reply.text


async def test_a_thread_that_cannot_be_read_is_answered_without_history(site: Site, world: World) -> None:
    root = site.slack.say(world.general, world.ben, "The VPN is down.")
    site.slack.faults.next("conversations.replies", Fails("missing_scope"), times=5)
    await site.ask(world.general, world.ann, f"{world.mention} whom do I call?", root)
    assert len(site.replies(world.general, root)) == 1


# -- kills -----------------------------------------------------------------------------------------


async def test_a_question_that_was_accepted_survives(
    redis: Redis, slack: SlackDouble, world: World, tmp_path: Path
) -> None:
    async with open_site(redis, slack, tmp_path, serve=False):
        ts = slack.say(world.general, world.ann, f"{world.mention} one")
        await slack.outbox.deliver()
    async with open_site(redis, slack, tmp_path) as site:
        await site.settle()
        assert len(site.replies(world.general, ts)) == 1


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_placeholder_that_a_kill_left_is_finished(
    redis: Redis, slack: SlackDouble, world: World, tmp_path: Path, streaming: bool
) -> None:
    """The first process dies with a message on its way, whose place it may not even have noted."""
    bot = ScriptedBot(script=lambda _turn: [Delta(text="The first half. "), asyncio.Event()])
    slack.rules.streaming = streaming
    async with open_site(redis, slack, tmp_path, bot=bot) as site:
        ts = slack.say(world.general, world.ann, f"{world.mention} one")
        await slack.outbox.deliver()
        await until(lambda: site.replies(world.general, ts))
    await redis.delete(f"footnote:note:slack-posted:{bot.asked[0].id}")
    async with open_site(redis, slack, tmp_path) as site:
        await site.settle()
        assert [seen.message.text for seen in site.replies(world.general, ts)] == ["Answer to: one"]


async def test_a_reply_that_was_posted_before_the_kill_is_not_posted_again(
    redis: Redis, slack: SlackDouble, world: World, tmp_path: Path
) -> None:
    async with open_site(redis, slack, tmp_path) as site:
        ts = await site.ask(world.general, world.ann, f"{world.mention} one")
        turn_id = site.bot.asked[0].id
        told = site.bot.told
    # The kill came after the post and before its record and the end of the work.
    await redis.delete(f"footnote:note:slack-posted:{turn_id}")
    async with open_site(redis, slack, tmp_path, bot=ScriptedBot(told=told)) as site:
        await redis.delete(*[key async for key in redis.scan_iter(match="*:seen:*")])
        await redis.hset("footnote:inbox:slack:starts", turn_id, 1)
        await slack.outbox.duplicate(slack.outbox.deliveries[0])
        await site.settle()
        assert len(site.replies(world.general, ts)) == 1
        assert len(site.slack.calls_of("chat.postMessage")) == 1


async def test_a_question_that_kills_again_and_again_ends_with_an_apology(
    redis: Redis, slack: SlackDouble, world: World, tmp_path: Path
) -> None:
    bot = ScriptedBot(script=lambda _turn: [asyncio.Event()])
    ts = ""
    for number in range(3):
        async with open_site(redis, slack, tmp_path, bot=bot) as site:
            if number == 0:
                ts = slack.say(world.general, world.ann, f"{world.mention} one")
                await slack.outbox.deliver()
            await until(lambda number=number: len(bot.asked) > number)
    async with open_site(redis, slack, tmp_path, bot=bot) as site:
        await site.settle()
        (reply,) = site.replies(world.general, ts)
        assert "Something went wrong on my side" in reply.text
    assert len(bot.asked) == 3
