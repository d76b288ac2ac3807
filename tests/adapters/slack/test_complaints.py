"""What users of such bots complain about in public, one test a complaint: none of it may happen here."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from adapters.conversation import Delta, Reply
from adapters.ports import Manner
from adapters.slack.people import SlackPeople
from tests.adapters.fake_bot import citation
from tests.adapters.scripted import answer_of
from tests.adapters.slack.site import Site, World, open_site
from tests.doubles.slack import Breaks, Fails, SlackDouble
from tests.doubles.slack.oracle import oracle

# -- twice, never, to itself -----------------------------------------------------------------------


async def test_fifty_identical_replies_set_off_by_message_changed(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    reply = site.replies(world.general, ts)[0]
    for number in range(50):
        site.slack.edit(world.general, ts, f"{world.mention} one {number}")
        site.slack.unfurl(world.general, reply.ts)
    await site.settle()
    assert len(site.replies(world.general, ts)) == 1


async def test_the_bot_answers_its_own_unfurl(site: Site, world: World) -> None:
    site.bot.script = lambda turn: [answer_of(turn, f"See https://kb.example/ {world.mention}?")]
    ts = await site.ask(world.general, world.ann, f"{world.mention} where?")
    reply = site.replies(world.general, ts)[0]
    site.slack.unfurl(world.general, reply.ts)
    await site.settle()
    assert len(site.bot.asked) == 1


async def test_retries_dropped_by_header_lose_what_came_while_the_bot_was_down(
    redis: Redis, slack: SlackDouble, world: World, tmp_path: Path
) -> None:
    slack.outbox.url = "http://127.0.0.1:9/"
    ts = slack.say(world.general, world.ann, f"{world.mention} one")
    await slack.outbox.deliver()
    async with open_site(redis, slack, tmp_path) as site:
        for lost in list(slack.outbox.lost):
            await slack.outbox.duplicate(lost, reason="http_timeout")
        await site.settle()
        assert len(site.replies(world.general, ts)) == 1


async def test_the_outbound_retry_posts_the_reply_twice(site: Site, world: World) -> None:
    site.slack.faults.next("chat.postMessage", Breaks(effect=True))
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    assert len(site.replies(world.general, ts)) == 1


async def test_a_storm_of_webhooks_takes_the_service_down(site: Site, world: World) -> None:
    """Every message of a busy channel comes in; only one of them is for the bot."""
    for number in range(300):
        site.slack.say(world.general, world.ben, f"chatter {number}")
    ts = site.slack.say(world.general, world.ann, f"{world.mention} one")
    await site.settle()
    assert len(site.replies(world.general, ts)) == 1
    assert len(site.bot.asked) == 1
    assert all(delivery.acknowledged for delivery in site.slack.outbox.deliveries)


@pytest.mark.parametrize("method", ["users.info", "conversations.info", "assistant.threads.setStatus"])
async def test_eyes_and_then_nothing_because_a_check_failed(site: Site, world: World, method: str) -> None:
    site.slack.faults.next(method, Fails("internal_error"), times=9)
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    assert len(site.replies(world.general, ts)) == 1


async def test_a_question_that_cannot_be_read_at_all_is_apologised_for(site: Site, world: World) -> None:
    def fail(*_: Any) -> Manner:
        raise RuntimeError("settings are away")

    site.bot.follow = fail
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    (reply,) = site.replies(world.general, ts)
    assert "Something went wrong on my side" in reply.text


async def test_a_slash_commands_answer_goes_to_the_whole_channel(site: Site, world: World) -> None:
    answer = await site.slack.command("/kb ask How often?", world.ann, world.general)
    await site.settle()
    assert answer.ok
    assert [seen for seen in site.slack.visible(world.general) if seen.by_bot] == []
    assert any("Answer to: How often?" in hidden.text for hidden in site.slack.ephemerals(world.ann))
    assert site.slack.ephemerals(world.ben) == []


async def test_attachments_are_silently_dropped(site: Site, world: World) -> None:
    good = site.slack.world.add_file("report.txt", "Revenue rose.", user=world.ann).id
    bad = site.slack.world.add_file("gone.txt", "x", user=world.ann, deleted=True).id
    ts = site.slack.say(world.general, world.ann, f"{world.mention} what does it say?", files=[good, bad])
    await site.settle()
    (turn,) = site.bot.asked
    assert [file.name for file in turn.files] == ["report.txt"]
    (reply,) = site.replies(world.general, ts)
    assert "is not there (any more)" in reply.text


# -- threads, direct messages, mentions ------------------------------------------------------------


async def test_follow_ups_are_ignored_unless_the_bot_is_mentioned_again(site: Site, world: World) -> None:
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    await site.ask(world.general, world.ann, "and two?", ts)
    assert len(site.replies(world.general, ts)) == 2


async def test_a_direct_message_does_nothing(site: Site, world: World) -> None:
    ts = await site.ask(world.direct, world.ann, "one")
    assert len(site.replies(world.direct, ts)) == 1


@pytest.mark.parametrize("text", ["{} one", "one {}", "tell {} me", "({}: one)", "> quote\n{} one"])
async def test_only_a_mention_at_the_start_works(site: Site, world: World, text: str) -> None:
    ts = await site.ask(world.general, world.ann, text.format(world.mention))
    assert len(site.replies(world.general, ts)) == 1
    assert world.team.bot_user not in site.bot.asked[0].text


async def test_the_threads_root_never_reaches_the_model(site: Site, world: World) -> None:
    root = site.slack.say(world.general, world.ben, "The printer on floor 3 is on fire.")
    await site.ask(world.general, world.ann, f"{world.mention} what now?", root)
    assert site.bot.asked[0].history[0].text == "The printer on floor 3 is on fire."


async def test_a_limit_on_the_thread_keeps_the_oldest_messages(site: Site, world: World) -> None:
    root = site.slack.say(world.general, world.ben, "root")
    for number in range(230):
        site.slack.say(world.general, world.ben, f"{number} " + "word " * 40, root)
    await site.ask(world.general, world.ann, f"{world.mention} one", root)
    texts = [message.text for message in site.bot.asked[0].history]
    assert texts[0] == "root"
    assert texts[-1].startswith("229 ")
    assert len(texts) < 200


async def test_replies_may_be_read_once_a_minute_only(site: Site, world: World) -> None:
    """Slack is asked about a thread once; what is said later comes by events."""
    site.slack.rules.history_limited = True
    root = site.slack.say(world.general, world.ben, "root")
    for number in range(5):
        await site.ask(world.general, world.ann, f"{world.mention} question {number}", root)
    assert len(site.replies(world.general, root)) == 5
    assert site.bot.asked[-1].history[-1].text == "Answer to: question 3"
    assert len(site.slack.calls_of("conversations.replies")) <= 2


async def test_invalid_thread_ts_in_a_direct_message(site: Site, world: World) -> None:
    site.slack.faults.next("chat.postMessage", Fails("invalid_thread_ts"))
    await site.ask(world.direct, world.ann, "one")
    assert [seen.message.text for seen in site.slack.visible(world.direct) if seen.by_bot] == [
        "Answer to: one"
    ]


async def test_the_mention_stays_in_the_query_or_every_mention_is_stripped(
    site: Site, world: World
) -> None:
    await site.ask(world.general, world.ann, f"{world.mention} did <@{world.ben}> ask <@{world.ann}>?")
    assert site.bot.asked[0].text == "did @ben ask @ann?"


async def test_long_earlier_answers_are_lost_from_the_history(site: Site, world: World) -> None:
    long = "\n\n".join(f"Paragraph {number}. " + "Words. " * 60 for number in range(20))
    site.bot.script = lambda turn: [answer_of(turn, long if turn.text == "one" else "short")]
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    await site.ask(world.general, world.ann, f"{world.mention} two", ts)
    assert site.bot.asked[1].history[-1].text == long


# -- form and length -------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [3_001, 13_200, 40_001, 120_000])
async def test_too_long_so_no_answer_at_all(site: Site, world: World, length: int) -> None:
    paragraph = "A sentence with a [link](https://example.com/a) in it. " * 10
    text = "\n\n".join([paragraph] * (length // len(paragraph) + 1))
    site.bot.script = lambda turn: [answer_of(turn, text)]
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    replies = site.replies(world.general, ts)
    assert sum(seen.text.count("A sentence with a") for seen in replies) == text.count("A sentence with a")
    assert all(oracle({"blocks": seen.blocks}) == [] for seen in replies)
    assert [call.error for call in site.slack.calls if call.error] == []


async def test_splits_that_break_links_and_fences(site: Site, world: World) -> None:
    fence = "```\n" + "\n".join(f"line {number} of the code" for number in range(900)) + "\n```"
    links = " ".join(f"[place {number}](https://example.com/{number})" for number in range(600))
    site.bot.script = lambda turn: [answer_of(turn, f"{fence}\n\n{links}")]
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    texts = [call.args for call in site.slack.calls_of("chat.postMessage")]
    for call in texts:
        for block in call["blocks"] if isinstance(call["blocks"], list) else []:
            if block["type"] == "markdown":
                assert block["text"].count("```") % 2 == 0
                assert len(re.findall(r"\]\(", block["text"])) == len(
                    re.findall(r"\]\([^)\s]+\)", block["text"])
                )
    assert len(site.replies(world.general, ts)) > 1


async def test_literal_html_and_links_cut_at_a_bracket(site: Site, world: World) -> None:
    site.bot.script = lambda turn: [
        answer_of(
            turn,
            "See [the page](https://en.wikipedia.org/wiki/Key_(lock)) &amp; <b>this</b> &quot;x&quot;.",
        )
    ]
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    (reply,) = site.replies(world.general, ts)
    assert "(https://en.wikipedia.org/wiki/Key_%28lock%29)" in str(reply.blocks)
    assert "&quot;" not in reply.message.text


async def test_the_notification_text_is_always_the_same_sentence(site: Site, world: World) -> None:
    for text in ("one", "two"):
        await site.ask(world.general, world.ann, f"{world.mention} {text}")
    said = [call.args["text"] for call in site.slack.calls_of("chat.postMessage")]
    assert said == ["Answer to: one", "Answer to: two"]


# -- citations -------------------------------------------------------------------------------------


async def test_it_cites_what_the_answer_does_not_name(site: Site, world: World) -> None:
    """The adapter shows exactly the citations that it is given, each under its own number."""
    cited = tuple(
        citation(
            number=number, label=str(number), title=f"Title {number}", url=f"https://kb.example/{number}"
        )
        for number in (5, 7)
    )
    site.bot.script = lambda turn: [answer_of(turn, "Five [5] and seven [7].", citations=cited)]
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    (reply,) = site.replies(world.general, ts)
    assert re.findall(r"^(\d+)\. Title", reply.text, re.MULTILINE) == ["5", "7"]
    for number in (5, 7):
        assert f"https://kb.example/{number}" in str(reply.blocks)


async def test_citations_are_gone_after_a_while(site: Site, world: World) -> None:
    """They are links in the message itself, and the reply is kept for what hangs on it."""
    site.bot.script = lambda turn: [answer_of(turn, "Yes [1].", citations=(citation(),))]
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    site.bot.told.clear()
    assert "http://kb.example/source/abc" in str(site.replies(world.general, ts)[0].blocks)


# -- isolation and safety --------------------------------------------------------------------------


async def test_a_cache_of_people_without_the_team_in_its_key(slack: SlackDouble) -> None:
    from adapters.slack.clients import make_client
    from adapters.slack.context import Installed
    from adapters.slack.settings import SlackSettings

    people = SlackPeople()
    teams = [slack.world.add_team(id) for id in ("T0001", "T0002")]
    slack.world.add_user("root", team="T0001", id="U1", admin=True)
    settings = SlackSettings(api_url=slack.api_url)
    installed = [
        Installed(make_client(f"xoxb-{team.id}", settings), team.id, team.bot_user, team.bot_id)
        for team in teams
    ]
    assert (await people.person(installed[0], "U1")).is_admin
    assert not (await people.person(installed[1], "U1")).is_admin


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Slack-Signature": "v0=0", "X-Slack-Request-Timestamp": "1"},
        {"X-Slack-Signature": "v0=ä", "X-Slack-Request-Timestamp": "yesterday"},
    ],
)
async def test_no_request_signature_check_at_all(site: Site, headers: dict[str, str]) -> None:
    status, _ = await site.slack.outbox.raw(site.url, '{"type":"event_callback"}', headers)
    assert status == 401


@pytest.mark.parametrize("ping", ["<!channel>", "<!here>", "@here", "@channel", "@everyone", "<@U0001>"])
async def test_text_of_models_pings_a_channel(site: Site, world: World, ping: str) -> None:
    site.slack.rules.streaming = True
    gate = asyncio.Event()
    site.bot.script = lambda turn: [
        Delta(text=f"Look, {ping}! And so on. "),
        gate,
        answer_of(turn, f"{ping} now"),
    ]
    ts = site.slack.say(world.general, world.ann, f"{world.mention} one")
    await site.slack.outbox.deliver()
    async with asyncio.timeout(10):
        while not site.slack.calls_of("chat.startStream"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    gate.set()
    await site.settle()
    sent = [str(call.args) for call in site.slack.calls if call.method.startswith("chat.")]
    assert not any(ping in text for text in sent)
    assert len(site.replies(world.general, ts)) == 1


async def test_an_apology_says_what_the_logs_know_it_by(site: Site, world: World) -> None:
    site.bot.script = lambda turn: [
        Reply(turn_id=turn.id, kind="apology", text="Something went wrong.", reference=turn.id)
    ]
    ts = await site.ask(world.general, world.ann, f"{world.mention} one")
    assert f"Reference: {site.bot.asked[0].id}" in site.replies(world.general, ts)[0].text
