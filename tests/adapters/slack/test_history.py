"""What of a thread reaches the model: in which order, by whom, and at what cost in calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.conversation import Conversation, Message
from adapters.history import BUDGET, tokens, within
from adapters.slack.history import history, read_thread
from adapters.slack.render import render
from tests.adapters.scripted import answer_of
from tests.adapters.slack.places import installed_in
from tests.adapters.slack.site import Site, World
from tests.doubles.slack.faults import Breaks, Fails, Hangs, RateLimited


def message(id: str, text: str, role: Any = "person") -> Message:
    return Message(id=id, role=role, text=text)


async def history_of(site: Site, world: World, thread: str, before: str = "9999999999") -> list[Message]:
    place = Conversation(
        platform="slack", tenant=world.team.id, id=world.general, kind="public_channel", thread=thread
    )
    found = await history(
        site.adapter.slack, installed_in(site.slack, world.team.id), place,
        before=before, store=site.transcript,
    )  # fmt: skip
    return list(found)


def reads(site: Site) -> int:
    return len(site.slack.calls_of("conversations.replies"))


async def test_the_thread_is_asked_for_once(site: Site, world: World) -> None:
    root = site.slack.say(world.general, world.ben, "The VPN of Lisbon is down.")
    await site.ask(world.general, world.ann, f"{world.mention} whom do I call?", root)
    asked = reads(site)
    assert asked >= 1
    await site.ask(world.general, world.ben, "It is up again.", root)
    await site.ask(world.general, world.ann, "And who did it?", root)
    assert [m.text for m in site.bot.asked[-1].history] == [
        "The VPN of Lisbon is down.",
        "whom do I call?",
        "Answer to: whom do I call?",
        "It is up again.",
    ]
    assert len([c for c in site.slack.calls_of("conversations.replies") if "oldest" not in c.args]) == 1


async def test_a_thread_that_begins_with_the_question_is_not_asked_for(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ann, f"{world.mention} How often?")
    await site.ask(world.general, world.ann, "And the old one?", root)
    assert not [c for c in site.slack.calls_of("conversations.replies") if "oldest" not in c.args]


async def test_a_thread_goes_on_that_was_long_before_the_bot_came(site: Site, world: World) -> None:
    """The root and the newest, not the oldest page: of 450 messages all pages are read."""
    root = site.slack.say(world.general, world.ben, "The root.")
    for number in range(450):
        site.slack.say(world.general, world.ann, f"remark {number}", root)
    found = await history_of(site, world, root)
    assert [found[0].text, found[1].text, found[-1].text] == ["The root.", "remark 251", "remark 449"]
    assert len(found) == 200
    assert reads(site) == 3
    assert len({m.id for m in found}) == len(found)


async def test_its_own_long_answer_comes_whole_from_the_store(site: Site, world: World) -> None:
    """Public complaint: earlier long answers are lost, because only the first block is read."""
    whole = "\n\n".join(f"Paragraph {number}. " + "word " * 100 for number in range(25))
    site.bot.script = lambda turn: [answer_of(turn, whole)]
    assert len(render(answer_of(_turn(), whole))) > 1
    root = await site.ask(world.general, world.ann, f"{world.mention} Tell me")
    stored = await site.history(world.general, root)
    await site.adapter.slack.bot.notes.erase(f"slack-thread:{world.team.id}:{world.general}:{root}")
    for one in stored:
        await site.transcript.forget(_place(world, root), one.id)
    found = await history_of(site, world, root)
    assert [(m.role, m.turn_id is not None) for m in found] == [("person", False), ("assistant", True)]
    assert found[1].text == whole
    assert found[1].turn_id == site.bot.asked[0].id


async def test_an_answer_that_is_not_kept_any_more_comes_in_its_parts(site: Site, world: World) -> None:
    whole = "\n\n".join(f"Paragraph {number}. " + "word " * 100 for number in range(25))
    site.bot.script = lambda turn: [answer_of(turn, whole)]
    root = await site.ask(world.general, world.ann, f"{world.mention} Tell me")
    site.bot.told.clear()
    await site.adapter.slack.bot.notes.erase(f"slack-thread:{world.team.id}:{world.general}:{root}")
    for one in await site.history(world.general, root):
        await site.transcript.forget(_place(world, root), one.id)
    found = await history_of(site, world, root)
    own = [m.text for m in found if m.role == "assistant"]
    assert len(own) > 1
    assert "Paragraph 0." in own[0]
    assert "Paragraph 24." in own[-1]


async def test_people_and_other_bots_are_kept_apart(site: Site, world: World) -> None:
    root = site.slack.say(world.general, world.ben, f"Ask <@{world.ann}>.")
    site.slack.say_as_other_bot(world.general, "build failed", root, name="ci")
    site.slack.say(world.general, world.ann, "I looked.", root)
    found = await history_of(site, world, root)
    assert [(m.role, m.author.name if m.author else None, m.text) for m in found][::2] == [
        ("person", "ben", "Ask @ann."), ("person", "ann", "I looked."),
    ]  # fmt: skip
    assert (found[1].role, found[1].text) == ("other_bot", "build failed")
    assert found[1].author is not None
    assert found[1].author.is_bot


async def test_what_is_no_part_of_the_talk_is_left_out(site: Site, world: World) -> None:
    """Joins, the bot's placeholders, and what it says that is no answer."""
    root = site.slack.say(world.general, world.ben, "The root.")
    place = site.slack.world.channels[world.general]
    joined = site.slack.say(world.general, world.ann, "ann has joined", root)
    place.messages[joined].subtype = "channel_join"
    client = installed_in(site.slack, world.team.id).client
    for payload in (
        None,
        {"turn_id": "t", "part": 0, "parts": 1, "state": "placeholder", "answer": True},
        {"turn_id": "t", "part": 0, "parts": 1, "state": "final", "answer": False},
    ):
        metadata = {"event_type": "footnote_reply", "event_payload": payload} if payload else None
        await client.chat_postMessage(
            channel=world.general, thread_ts=root, text="Searching…", metadata=metadata
        )
    assert [m.text for m in await history_of(site, world, root)] == ["The root."]


@pytest.mark.parametrize(
    "fault", [Fails("missing_scope"), Fails("thread_not_found"), Fails("odd"), RateLimited(60), Breaks()],
    ids=str,
)  # fmt: skip
async def test_a_question_goes_on_when_slack_does_not_tell(site: Site, world: World, fault: Any) -> None:
    root = site.slack.say(world.general, world.ben, "The VPN of Lisbon is down.")
    await site.slack.outbox.deliver()
    site.slack.faults.next("conversations.replies", fault, times=10)
    assert await history_of(site, world, root) == []
    site.slack.faults.clear()
    assert len(await history_of(site, world, root)) == 1


async def test_a_question_does_not_wait_for_long(
    site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.history.PATIENCE", 0.05)
    root = site.slack.say(world.general, world.ben, "The VPN of Lisbon is down.")
    site.slack.faults.next("conversations.replies", Hangs())
    async with asyncio.timeout(3):
        assert await history_of(site, world, root) == []


async def test_an_app_that_may_ask_for_little_goes_on_where_it_was(site: Site, world: World) -> None:
    """Fifteen messages a minute: each question of the thread knows more, and the root from the first."""
    site.slack.rules.history_limited = True
    root = site.slack.say(world.general, world.ben, "The root.")
    for number in range(30):
        site.slack.say(world.general, world.ann, f"remark {number}", root)
    lengths: list[int] = []
    for _ in range(3):
        site.slack.clock.advance(61)
        lengths.append(len(await history_of(site, world, root)))
    assert lengths == [15, 29, 31]
    asked = reads(site)
    site.slack.clock.advance(61)
    assert len(await history_of(site, world, root)) == 31
    assert reads(site) == asked


async def test_one_odd_message_keeps_no_thread_from_being_read(
    site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = site.slack.say(world.general, world.ben, "The root.")
    odd = site.slack.say(world.general, world.ann, "odd", root)
    site.slack.say(world.general, world.ann, "fine", root)
    before = site.slack.payloads.message

    def shown(message: Any, **more: Any) -> Any:
        made = before(message, **more)
        return made | {"blocks": [7], "user": ["x"]} if message.ts == odd else made

    monkeypatch.setattr(site.slack.payloads, "message", shown)
    assert [m.text for m in await history_of(site, world, root)] == ["The root.", "fine"]


async def test_a_thread_is_read_whole_for_a_document(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ann, f"{world.mention} How often?")
    for number in range(250):
        site.slack.say(world.general, world.ben, f"remark {number}", root)
    found = await read_thread(
        site.adapter.slack, installed_in(site.slack, world.team.id), world.general, root
    )
    assert [m.role for m in found] == ["person", "assistant", *["person"] * 250]
    assert found[-1].text == "remark 249"


_MESSAGES = st.lists(st.text(max_size=40) | st.integers(1, 9000).map("字".__mul__), max_size=30)


@given(_MESSAGES, st.booleans())
def test_root_and_newest_within_the_budget(texts: list[str], rooted: bool) -> None:
    messages = [message("root" if not n and rooted else f"m{n}", text) for n, text in enumerate(texts)]
    found = within(messages, "root")
    assert sum(tokens(m.text) for m in found) <= BUDGET
    ids = [m.id for m in messages]
    kept = [m.id for m in found]
    rest = kept[1:] if rooted and kept else kept
    assert kept[:1] == ids[:1] or not rooted
    assert rest == (ids[len(ids) - len(rest) :] if rest else [])
    assert bool(rest) == (len(ids) > (1 if rooted else 0))


def test_a_script_without_an_alphabet_costs_more() -> None:
    assert tokens("a" * 400) == 104
    assert tokens("字" * 400) == 404


def _place(world: World, thread: str) -> Conversation:
    return Conversation(
        platform="slack", tenant=world.team.id, id=world.general, kind="public_channel", thread=thread
    )


def _turn() -> Any:
    class _Turn:
        id, text = "t", ""

    return _Turn()
