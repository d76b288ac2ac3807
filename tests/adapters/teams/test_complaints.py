"""What users of such bots complain about in public, one test a complaint: none of it may happen here."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from adapters.conversation import Delta, Reply, Working
from adapters.ports import Manner
from adapters.teams.people import TeamsPeople
from adapters.teams.reference import Reference
from tests.adapters.fake_bot import citation
from tests.adapters.scripted import answer_of
from tests.adapters.teams.site import Site, World, open_site
from tests.doubles.teams import Fails, TeamsDouble

LINK = "https://kb.example/source/abc"


def texts(site: Site, conversation: str, thread: str | None = None) -> list[str]:
    return [seen.text for seen in site.answers(conversation, thread)]


# -- twice, never, to itself -----------------------------------------------------------------------


async def test_fifty_identical_replies_set_off_by_edits(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ann, f"{world.at} one")
    for number in range(50):
        site.teams.edit(world.general, root, f"{world.at} one {number}")
    await site.settle()
    assert len(site.answers(world.general, root)) == 1


async def test_over_15_seconds_teams_delivers_the_activity_again(site: Site, world: World) -> None:
    """The answer takes longer than that; the activity was acknowledged before."""
    gate = asyncio.Event()
    site.bot.script = lambda turn: [gate, answer_of(turn)]
    site.teams.say(world.direct, world.ann, "one")
    [delivery] = await site.teams.outbox.deliver()
    assert delivery.acknowledged
    for _ in range(3):
        assert (await site.teams.outbox.again(delivery)).status == 201
    gate.set()
    await site.settle()
    assert texts(site, world.direct) == ["Answer to: one"]


async def test_the_outbound_retry_posts_the_reply_twice(site: Site, world: World) -> None:
    for code in (412, 502, 504):
        site.teams.faults.next("send", Fails(code))
    await site.ask(world.group, world.ann, f"{world.at} one")
    assert texts(site, world.group) == ["Answer to: one"]


async def test_a_storm_of_activities_takes_the_service_down(site: Site, world: World) -> None:
    """By consent every message of a busy channel comes in; only one of them is for the bot."""
    world.team.rsc = True
    for number in range(300):
        site.teams.say(world.general, world.ben, f"chatter {number}")
    root = site.teams.say(world.general, world.ann, f"{world.at} one")
    await site.settle()
    assert len(site.answers(world.general, root)) == 1
    assert len(site.bot.asked) == 1
    assert all(delivery.acknowledged for delivery in site.teams.outbox.deliveries)


@pytest.mark.parametrize("code", [403, 404, 500])
async def test_a_sign_of_life_and_then_nothing_because_a_check_failed(
    site: Site, world: World, code: int
) -> None:
    site.teams.faults.next("member", Fails(code), times=9)
    root = await site.ask(world.general, world.ann, f"{world.at} one")
    assert len(site.answers(world.general, root)) == 1


async def test_a_question_that_cannot_be_read_at_all_is_apologised_for(site: Site, world: World) -> None:
    def follow(_turn: Any, _addressed: bool) -> Manner:
        raise ValueError

    site.bot.follow = follow
    await site.ask(world.direct, world.ann, "one")
    (apology,) = site.answers(world.direct)
    assert "Something went wrong" in apology.text
    assert re.search(r"Reference: m[0-9a-f]{24}", apology.words)


async def test_a_commands_answer_goes_to_the_whole_channel(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ann, f"{world.at} kb list")
    (card,) = site.answers(world.general, root)
    assert "Only you see what opens." in card.words
    assert site.bot.asked == []


async def test_attachments_are_silently_dropped(site: Site, world: World) -> None:
    """A question with files is asked with them, or it is said why not."""
    file = site.teams.world.add_file("keys.md", "Keys change every 90 days.")
    seen: list[bytes] = []

    def script(turn: Any) -> list[Any]:
        seen.extend(one.path.read_bytes() for one in turn.files)
        return [answer_of(turn)]

    site.bot.script = script
    site.teams.say(world.direct, world.ann, "What does this file say?", files=[file.id])
    await site.settle()
    assert seen == [b"Keys change every 90 days."]
    root = site.teams.say(world.general, world.ann, f"{world.at} What does it say?", files=[file.id])
    await site.settle()
    (answer,) = site.answers(world.general, root)
    assert "Send it to me in a direct chat" in answer.words


# -- threads, chats, mentions ----------------------------------------------------------------------


async def test_follow_ups_are_ignored_unless_the_bot_is_mentioned_again(site: Site, world: World) -> None:
    world.team.rsc = True
    root = await site.ask(world.general, world.ann, f"{world.at} How often do keys change?")
    await site.ask(world.general, world.ann, "And the old ones?", root)
    await site.ask(world.general, world.ben, "Thanks, Ann.", root)
    assert texts(site, world.general, root) == [
        "Answer to: How often do keys change?",
        "Answer to: And the old ones?",
    ]


async def test_what_is_said_elsewhere_is_not_answered(site: Site, world: World) -> None:
    world.team.rsc = True
    root = await site.ask(world.general, world.ann, "Has anybody seen my keys?")
    assert site.answers(world.general, root) == []
    assert site.bot.asked == []


async def test_a_direct_message_does_nothing(site: Site, world: World) -> None:
    await site.ask(world.direct, world.ann, "one")
    assert texts(site, world.direct) == ["Answer to: one"]


@pytest.mark.parametrize("text", ["{at} How often?", "How often, {at}?", "Hello {at} how often"])
async def test_only_a_mention_at_the_start_works(site: Site, world: World, text: str) -> None:
    root = await site.ask(world.general, world.ann, text.format(at=world.at))
    assert len(site.answers(world.general, root)) == 1


@pytest.mark.parametrize("suffix", [True, False])
async def test_the_threads_root_never_reaches_the_model(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path, suffix: bool
) -> None:
    """It may exist only in `;messageid=`; what was said before the bot came is asked of Graph."""
    root = teams.say(world.general, world.ben, "The build server is down since nine.")
    teams.say(world.general, world.ann, "I restarted it.", thread=root)
    world.team.rsc = True
    teams.rules.suffix_on_posts = suffix
    teams.outbox.deliveries.clear()
    async with open_site(redis, teams, tmp_path) as site:
        await site.ask(world.general, world.ann, f"{world.at} What do I do now?", root)
        [turn] = site.bot.asked
        assert [message.text for message in turn.history] == [
            "The build server is down since nine.",
            "I restarted it.",
        ]
        assert [message.author.name for message in turn.history if message.author] == ["Ben Ito", "Ann Lee"]


async def test_the_context_is_lost_without_a_reply_id(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ann, f"{world.at} How often?")
    await site.ask(world.general, world.ann, f"{world.at} And the old ones?", root)
    history = site.bot.asked[1].history
    assert [message.text for message in history] == ["How often?", "Answer to: How often?"]
    assert [message.role for message in history] == ["person", "assistant"]


async def test_a_limit_on_the_thread_keeps_the_oldest_messages(site: Site, world: World) -> None:
    world.team.rsc = True
    root = site.teams.say(world.general, world.ann, f"{world.at} first?")
    await site.settle()
    for number in range(60):
        site.teams.say(world.general, world.ben, f"{number}: {'words ' * 60}", thread=root)
    await site.settle()
    await site.ask(world.general, world.ann, f"{world.at} and now?", root)
    history = site.bot.asked[-1].history
    assert history[0].text == "first?"
    assert history[-1].text.startswith("59:")
    assert len(history) < 60


async def test_the_mention_stays_in_the_query_or_every_mention_is_stripped(
    site: Site, world: World
) -> None:
    await site.ask(world.general, world.ann, f"{world.at} is <@{world.ben}> on call?")
    assert site.bot.asked[0].text == "is @Ben Ito on call?"


async def test_long_earlier_answers_are_lost_from_the_history(site: Site, world: World) -> None:
    long = "\n\n".join(f"Paragraph {number} of it. " + "More words. " * 60 for number in range(120))
    site.bot.script = lambda turn: [answer_of(turn, long if turn.text == "one" else "short")]
    await site.ask(world.direct, world.ann, "one")
    assert len(site.answers(world.direct)) > 1
    await site.ask(world.direct, world.ann, "two")
    answer = site.bot.asked[1].history[-1]
    assert answer.role == "assistant"
    assert answer.text.startswith("Paragraph 0 of it.")
    assert len(answer.text) > 8_000


# -- form and length -------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [3_000, 13_200, 40_000, 200_000])
async def test_too_long_so_no_answer_at_all(site: Site, world: World, length: int) -> None:
    text = "\n\n".join(f"Sentence {number} of a long answer." for number in range(length // 30))
    site.bot.script = lambda turn: [answer_of(turn, text)]
    root = await site.ask(world.general, world.ann, f"{world.at} one")
    answers = site.answers(world.general, root)
    assert "Sentence 0 of" in answers[0].text
    whole = "\n\n".join(seen.text for seen in answers)
    assert f"Sentence {length // 30 - 1} of" in whole
    assert not site.teams.refusals


async def test_literal_html_and_links_cut_at_a_bracket(site: Site, world: World) -> None:
    site.bot.script = lambda turn: [
        answer_of(turn, "<b>Bold</b> &quot;quoted&quot; [a](https://a.example/x_(y)) mail a@b.example")
    ]
    await site.ask(world.direct, world.ann, "one")
    (text,) = texts(site, world.direct)
    assert "&quot;" not in text
    assert "https://a.example/x_(y)" in text.replace("%28", "(").replace("%29", ")").replace("\\", "")
    assert "a@b.example" in text


async def test_notifications_tell_the_answer(site: Site, world: World) -> None:
    await site.ask(world.group, world.ann, f"{world.at} one")
    [(place, message)] = site.teams.notified
    shown = {seen.id: seen.text for seen in site.answers(place)}
    assert shown[message] == "Answer to: one"


async def test_posts_and_edits_in_bursts_earn_429(
    site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quick stream of words becomes a few edits."""
    monkeypatch.setattr("adapters.teams.present.PATIENCE", 0.0)
    site.bot.script = lambda turn: [
        Working(kind="searching", text="Searching"),
        *[Delta(text=f"word {number}. ") for number in range(500)],
        answer_of(turn),
    ]
    await site.ask(world.group, world.ann, f"{world.at} one")
    calls = site.teams.calls_of("send") + site.teams.calls_of("update")
    assert len(calls) <= 4
    assert not site.teams.refusals


async def test_too_large_is_not_handled(site: Site, world: World) -> None:
    site.bot.script = lambda turn: [answer_of(turn, "word " * 8_000)]
    site.teams.faults.next("send", Fails(413, "MessageSizeTooBig", "Message size too large"), times=2)
    await site.ask(world.group, world.ann, f"{world.at} one")
    assert "longer than Teams can show" in texts(site, world.group)[0]


async def test_no_streaming_in_groups_and_channels(
    site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There one message is edited."""
    monkeypatch.setattr("adapters.teams.present.PATIENCE", 0.0)
    monkeypatch.setattr("adapters.teams.present.EDIT_EVERY", 0.0)
    gate = asyncio.Event()
    site.bot.script = lambda turn: [Delta(text="The first half. "), gate, answer_of(turn, "All of it.")]
    root = site.teams.say(world.general, world.ann, f"{world.at} one")
    await site.teams.outbox.deliver()
    async with asyncio.timeout(10):
        while texts(site, world.general, root) != ["The first half. …"]:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    gate.set()
    await site.settle()
    (answer,) = site.answers(world.general, root)
    assert answer.text == "All of it."
    assert answer.edits
    assert not site.teams.refusals


# -- citations -------------------------------------------------------------------------------------


async def test_it_cites_what_the_answer_does_not_name(site: Site, world: World) -> None:
    site.bot.script = lambda turn: [
        answer_of(
            turn,
            "Every 90 days. [1] The old key works for a day. [2]",
            citations=(
                citation(url=LINK),
                citation(number=2, label="2", title="Rotation", quote="For a day.", page=7, url=LINK),
            ),
        )
    ]
    await site.ask(world.direct, world.ann, "one")
    (answer,) = site.answers(world.direct)
    assert sorted(answer.citations) == [1, 2]
    assert answer.citations[1]["abstract"] == "Every 90 days."
    assert answer.citations[2]["name"] == "Rotation, p. 7"
    assert answer.citations[2]["url"] == LINK


async def test_citations_are_gone_once_published(site: Site, world: World) -> None:
    """Streamed text has none; the message that ends the stream has them."""
    site.bot.script = lambda turn: [
        Delta(text="Every 90 days. [1]"),
        answer_of(turn, "Every 90 days. [1]", citations=(citation(url=LINK),)),
    ]
    await site.ask(world.direct, world.ann, "one")
    (answer,) = site.answers(world.direct)
    assert sorted(answer.citations) == [1]


# -- isolation and safety --------------------------------------------------------------------------


async def test_a_cache_of_people_without_the_tenant_in_its_key() -> None:
    class Connector:
        async def member(self, reference: Reference, user: str) -> dict[str, Any]:
            role = "guest" if reference.tenant == "T2" else "user"
            return {"id": user, "name": reference.tenant, "tenantId": reference.tenant, "userRole": role}

    people = TeamsPeople(Connector(), None, frozenset())  # pyright: ignore[reportArgumentType]
    found = [
        await people.person(
            Reference(
                service_url="https://x.example",
                tenant=tenant,
                conversation="19:c",
                kind="group",
                bot="28:b",
            ),
            "29:ann",
        )
        for tenant in ("T1", "T2", "T1")
    ]
    assert [person.name for person in found] == ["T1", "T2", "T1"]
    assert [person.is_guest for person in found] == [False, True, False]


async def test_guests_are_told_from_members(site: Site, world: World) -> None:
    guest = site.teams.world.add_person("Guy Guest", guest=True).aad
    site.teams.join(world.general, guest)
    await site.ask(world.general, guest, f"{world.at} one")
    await site.ask(world.general, world.ann, f"{world.at} two")
    assert [turn.asker.is_guest for turn in site.bot.asked] == [True, False]


async def test_no_request_signature_check_at_all(site: Site, world: World) -> None:
    site.teams.outbox.authorization = lambda _activity: None
    site.teams.say(world.direct, world.ann, "one")
    [delivery] = await site.teams.outbox.deliver()
    assert delivery.status == 401
    assert site.bot.asked == []


@pytest.mark.parametrize(
    "ping", ["<at>Ben Ito</at>", "<at id='0'>everyone</at>", "&lt;at&gt;Ben&lt;/at&gt;"]
)
async def test_text_of_models_pings_somebody(site: Site, world: World, ping: str) -> None:
    site.bot.script = lambda turn: [answer_of(turn, f"Ask {ping} `{ping}`")]
    await site.ask(world.group, world.ann, f"{world.at} one")
    (answer,) = site.answers(world.group)
    assert not re.search(r"<at\b", answer.text)
    assert all(entity["type"] != "mention" for entity in answer.entities)


async def test_an_apology_says_what_the_logs_know_it_by(site: Site, world: World) -> None:
    site.bot.script = lambda turn: [
        Reply(turn_id=turn.id, kind="apology", text="That went wrong.", reference="abc123")
    ]
    await site.ask(world.direct, world.ann, "one")
    (apology,) = site.answers(world.direct)
    assert "Reference: abc123" in apology.words
    assert not apology.asks_feedback
