"""A question on Slack to its one visible reply."""

from __future__ import annotations

import asyncio

from adapters.conversation import Delta, Reply, Working
from adapters.ports import Manner
from tests.adapters.fake_bot import citation
from tests.adapters.scripted import answer_of
from tests.adapters.slack.site import Site, World


async def test_a_mention_is_answered_in_its_thread(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, f"{world.mention} How often do keys change?")
    (reply,) = site.replies(world.general, ts)
    assert reply.text.startswith("Answer to: How often do keys change?")
    assert reply.message.text == "Answer to: How often do keys change?"
    (turn,) = site.bot.asked
    assert (turn.asker.name, turn.conversation.kind, turn.conversation.name) == (
        "ann", "public_channel", "general",
    )  # fmt: skip
    assert turn.conversation.thread == ts
    assert turn.locale == "en-US"


async def test_a_mention_anywhere_in_the_message_counts(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, f"Hey folks, {world.mention} what about <@{world.ben}>?")
    assert len(site.replies(world.general, ts)) == 1
    assert site.bot.asked[0].text == "Hey folks, what about @ben?"


async def test_a_direct_message_is_answered(site: Site, world: World) -> None:
    ts = await site.ask(world.direct, world.ann, "How often do keys change?")
    assert len(site.replies(world.direct, ts)) == 1
    assert site.bot.asked[0].conversation.kind == "direct"


async def test_a_follow_up_needs_no_mention_and_knows_the_thread(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, f"{world.mention} How often do keys change?")
    await site.ask(world.general, world.ben, "thanks, good to know", ts)
    await site.ask(world.general, world.ann, "And the old one?", ts)
    assert len(site.replies(world.general, ts)) == 2
    history = site.bot.asked[1].history
    assert [(m.role, m.text) for m in history] == [
        ("person", "How often do keys change?"),
        ("assistant", "Answer to: How often do keys change?"),
        ("person", "thanks, good to know"),
    ]
    assert history[1].turn_id == site.bot.asked[0].id
    assert [m.author.name for m in history if m.author] == ["ann", "ben"]


async def test_a_message_in_a_channel_that_names_nobody_is_left_alone(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, "How often do keys change?")
    assert site.bot.asked == []
    assert site.replies(world.general, ts) == []


async def test_a_mention_in_an_old_thread_reads_it_whole(site: Site, world: World) -> None:
    root = site.slack.say(world.general, world.ben, "The VPN of Lisbon is down.")
    for number in range(5):
        site.slack.say(world.general, world.ann, f"remark {number}", root)
    site.slack.say_as_other_bot(world.general, "build failed", root)
    await site.ask(world.general, world.ann, f"{world.mention} whom do I call?", root)
    history = site.bot.asked[0].history
    assert history[0].text == "The VPN of Lisbon is down."
    assert [m.role for m in history] == ["person"] * 6 + ["other_bot"]


async def test_citations_are_links_for_what_the_answer_names(site: Site, world: World) -> None:
    cited = citation(title="API keys", page=3, url="https://kb.example/source/abc")
    site.bot.script = lambda turn: [answer_of(turn, "Every 90 days. [1]", citations=(cited,))]
    ts = await site.ask(world.general, world.ann, f"{world.mention} How often?")
    (reply,) = site.replies(world.general, ts)
    assert "Every 90 days. [1]" in reply.text
    assert "1. API keys, p. 3" in reply.text
    assert "https://kb.example/source/abc" in str(reply.blocks)


async def test_a_long_answer_streams_and_ends_as_the_same_message(site: Site, world: World) -> None:
    gate, shown = asyncio.Event(), asyncio.Event()
    site.bot.script = lambda turn: [
        Working(kind="searching", text="Searching your documents"),
        Working(kind="reading", text="Reading 3 sources", count=3),
        Delta(text="The first sentence. "),
        shown,
        Delta(text="And the second."),
        gate,
        answer_of(turn, "The first sentence. And the second."),
    ]
    ts = site.slack.say(world.general, world.ann, f"{world.mention} Tell me")
    await site.slack.outbox.deliver()
    async with asyncio.timeout(10):
        while not site.slack.calls_of("chat.startStream"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        shown.set()
        gate.set()
        await site.settle()
    (reply,) = site.replies(world.general, ts)
    assert reply.message.text == "The first sentence. And the second."
    started = site.slack.calls_of("chat.startStream")[0]
    assert started.error is None
    assert "Reading 3 sources" in str(started.args)
    assert [call.error for call in site.slack.calls_of("chat.stopStream")] == [None]


async def test_without_streaming_a_message_is_posted_and_edited(site: Site, world: World) -> None:
    site.slack.rules.streaming = False
    gate = asyncio.Event()
    site.bot.script = lambda turn: [
        Working(kind="searching", text="Searching your documents"),
        gate,
        answer_of(turn, "Here."),
    ]
    ts = site.slack.say(world.general, world.ann, f"{world.mention} Tell me")
    await site.slack.outbox.deliver()
    async with asyncio.timeout(10):
        while not site.replies(world.general, ts):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert "Searching your documents…" in site.replies(world.general, ts)[0].text
        gate.set()
        await site.settle()
    (reply,) = site.replies(world.general, ts)
    assert reply.message.text == "Here."


async def test_group_direct_messages_are_answered_when_mentioned(site: Site, world: World) -> None:
    group = site.slack.world.add_channel("", world.ann, world.ben, kind="mpim").id
    ts = await site.ask(group, world.ann, f"{world.mention} one")
    assert len(site.replies(group, ts)) == 1
    assert site.bot.asked[0].conversation.kind == "group"


async def test_a_shared_channel_is_known_as_such(site: Site, world: World) -> None:
    shared = site.slack.world.add_channel("partners", world.ann, ext_shared=True).id
    await site.ask(shared, world.ann, f"{world.mention} one")
    assert site.bot.asked[0].conversation.kind == "shared_channel"


async def test_a_guest_is_known_as_such(site: Site, world: World) -> None:
    guest = site.slack.world.add_user("gus", restricted=True).id
    await site.ask(world.general, guest, f"{world.mention} one")
    assert site.bot.asked[0].asker.is_guest


async def test_replies_go_into_the_channel_where_the_workspace_wants_that(site: Site, world: World) -> None:
    site.bot.follow = lambda _turn, _addressed: Manner(answers=True, in_thread=False)
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    assert site.replies(world.general, ts) == []
    (reply,) = [seen for seen in site.slack.visible(world.general) if seen.by_bot]
    assert reply.message.text == "Answer to: one"
    # In a thread the answer stays there.
    await site.ask(world.general, world.ann, f"{world.mention} two", ts)
    assert [seen.message.text for seen in site.replies(world.general, ts)] == ["Answer to: two"]


async def test_joining_a_channel_brings_one_short_greeting(site: Site, world: World) -> None:
    channel = site.slack.world.add_channel("new", world.ann, bot=False).id
    for _ in range(2):
        site.slack.join(channel)
        await site.settle()
        site.slack.leave(channel)
    site.slack.join(channel)
    await site.settle()
    greetings = [seen for seen in site.slack.visible(channel) if seen.by_bot]
    assert len(greetings) == 1
    assert "Mention me with a question" in greetings[0].text


async def test_opening_the_chat_suggests_questions_and_a_question_names_the_thread(
    site: Site, world: World
) -> None:
    direct = site.slack.open_messages_tab(world.ann)
    await site.settle()
    async with asyncio.timeout(10):
        while not site.slack.world.prompts:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    ((place, prompts),) = site.slack.world.prompts.items()
    assert place == (direct, None)
    assert "What does “Keys” say?" in str(prompts)
    ts = await site.ask(direct, world.ann, "How often do keys change?")
    assert site.slack.world.titles[direct, ts] == "How often do keys change?"


async def test_a_file_with_a_mention_and_no_question_is_a_document(site: Site, world: World) -> None:
    file = site.slack.world.add_file("keys.md", "# Keys", user=world.ann).id
    ts = site.slack.say(world.general, world.ann, world.mention, files=[file])
    await site.settle()
    assert site.bot.asked == []
    (uploaded,) = [names for names, _ in site.bot.uploads if names]
    assert uploaded == {"keys.md": b"# Keys"}
    (reply,) = site.replies(world.general, ts)
    assert "keys.md" in reply.text or "Added" in reply.text


async def test_an_answer_without_sources_says_so(site: Site, world: World) -> None:
    site.bot.script = lambda turn: [
        Reply(turn_id=turn.id, kind="not_covered", text="Your documents don't cover this.")
    ]
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    (reply,) = site.replies(world.general, ts)
    assert "don't cover this" in reply.text
    assert "Sources" not in reply.text


async def test_files_of_a_remark_in_the_thread_are_not_fetched(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    file = site.slack.world.add_file("holiday.txt", "sun", user=world.ben).id
    site.slack.say(world.general, world.ben, "look where I have been", ts, files=[file])
    await site.settle()
    assert site.slack.calls_of("files.info") == []
    assert len(site.replies(world.general, ts)) == 1
