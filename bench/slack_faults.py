"""Questions on Slack while everything goes wrong: does each end in exactly one visible reply?

    python -m bench.slack_faults --questions 5000 --kills 20 --seed 7

`kb serve` runs as its own process against the strict Slack of the tests. People ask in channels, threads
and direct messages; some events come twice or after later ones, some calls of the Web API are answered
429 or 5xx (half of these after they had their effect), and the process is killed and started again at
random moments. Some answers take a second, so that kills meet streams and placeholders. At the end every
thread is looked at: `silent` have no reply, `doubled` more than one, `unfinished` one that is none.
`repaired` counts replies of a killed process that its successor found and finished.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

from adapters.conversation import Conversation, Person, Platform
from adapters.ports import Actor
from adapters.slack.readback import EVENT_TYPE
from bench.serving import Served, acknowledged, free_port, with_slow_model
from bench.slow_model import slow_model
from bot.app import open_app
from bot.config import Config
from bot.demo import load_handbook
from tests.doubles.slack import Breaks, RateLimited, SlackDouble

QUESTIONS = (
    "How often do I have to change my API key?",
    "Who pays for a taxi after ten in the evening?",
    "How do I connect to the VPN?",
    "What do I do when an incident begins?",
    "Wie viele Tage Urlaub habe ich?",
    "Where do visitors sign in?",
)
#: Calls that are spoiled: those that people see something of.
_SPOILED = frozenset({
    "chat.postMessage", "chat.update", "chat.startStream", "chat.appendStream", "chat.stopStream",
    "conversations.replies", "conversations.info", "users.info", "assistant.threads.setStatus",
})  # fmt: skip


async def fill(config: Config, platform: Platform, tenant: str) -> None:
    """The example handbook, in the workspace of the Slack team or Teams tenant."""
    async with open_app(config) as app:
        workspace = await app.workspaces.of(platform, tenant)
        actor = Actor(
            workspace=workspace,
            person=Person(id="filler", is_admin=True),
            conversation=Conversation(platform=platform, tenant=tenant, id="D0", kind="direct"),
        )
        progress = await load_handbook(app.documents, actor)
        async for _ in app.documents.watch(actor, [item.version_id for item in progress.items]):
            pass


def judge(slack: SlackDouble, asked: list[tuple[str, str, str]]) -> Counter[str]:
    """`asked` as (channel, root, ts). One turn a question: its replies are known by their metadata."""
    counts: Counter[str] = Counter()
    by_thread: dict[tuple[str, str], list[str]] = {}
    for channel, root, ts in asked:
        by_thread.setdefault((channel, root), []).append(ts)
    for (channel, root), questions in by_thread.items():
        finals: Counter[str] = Counter()
        for seen in slack.replies(channel, root):
            if not seen.by_bot:
                continue
            metadata = seen.message.metadata or {}
            payload = metadata.get("event_payload") or {}
            if metadata.get("event_type") != EVENT_TYPE or payload.get("state") != "final":
                counts["unfinished"] += 1
            elif payload.get("part") == 0:
                finals[str(payload["turn_id"])] += 1
                counts["apologies"] += "Something went wrong" in seen.text
        counts["replies"] += len(finals)
        counts["doubled"] += sum(count - 1 for count in finals.values())
        counts["silent"] += max(0, len(questions) - len(finals))
        counts["too many"] += max(0, len(finals) - len(questions))
    return counts


async def run(questions: int, kills: int, seed: int, slow: float) -> Counter[str]:
    rng = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="footnote-slack-faults-"))
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackDouble())
        model = await stack.enter_async_context(slow_model(1.2, slow))
        world = slack.world
        team = world.add_team()
        people = [world.add_user(f"person{number}").id for number in range(20)]
        channels = [world.add_channel(f"channel-{number}", *people).id for number in range(10)]
        directs = [world.dm(person).id for person in people]
        port = free_port()
        environment = with_slow_model(folder, port, model) | {
            "SLACK_BOT_TOKEN": f"xoxb-{team.id}", "SLACK_SIGNING_SECRET": slack.app.signing_secret,
            "SLACK_API_URL": slack.api_url,
        }  # fmt: skip
        os.environ.update(environment)
        await fill(Config(), "slack", team.id)
        served = Served(environment, folder / "log", port)
        await served.start()
        slack.outbox.url = f"http://127.0.0.1:{port}/slack/events"
        # Slack tries again at once, after a minute and after five; a start takes seconds here.
        slack.outbox.retry_after = (0.0, 4.0, 20.0)
        slack.outbox.at_random(seed, duplicates=0.10, reorders=0.05)
        slack.faults.at_random(
            seed, (0.025, RateLimited(1)), (0.0125, Breaks()), (0.0125, Breaks(effect=True)), only=_SPOILED
        )
        began = time.monotonic()
        asked: list[tuple[str, str, str]] = []
        kill_at = sorted(rng.sample(range(questions // 50, questions), kills)) if kills else []
        for number in range(questions):
            if rng.random() < 0.2:
                channel, text = rng.choice(directs), rng.choice(QUESTIONS)
                asked.append((channel, ts := slack.say(channel, rng.choice(people), text), ts))
            elif asked and rng.random() < 0.2:
                channel, root, _ = rng.choice(asked[-30:])
                mention = f"<@{team.bot_user}> " if not channel.startswith("D") else ""
                text = f"{mention}{rng.choice(QUESTIONS)}"
                asked.append((channel, root, slack.say(channel, rng.choice(people), text, root)))
            else:
                channel, text = rng.choice(channels), f"<@{team.bot_user}> {rng.choice(QUESTIONS)}"
                asked.append((channel, ts := slack.say(channel, rng.choice(people), text), ts))
            if kill_at and number == kill_at[0]:
                kill_at.pop(0)
                await asyncio.sleep(rng.random())
                await served.kill()
                await served.start()
            await asyncio.sleep(rng.expovariate(40))
            while len(asked) - _answered(slack) > 60:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            if number % 500 == 499:
                print(
                    f"{number + 1} asked, {_answered(slack)} posts, {time.monotonic() - began:.0f} s",
                    flush=True,
                )
        await slack.outbox.deliver(lost=True)
        waited = time.monotonic()
        while time.monotonic() - waited < 240 and judge(slack, asked)["silent"]:  # noqa: ASYNC110
            await asyncio.sleep(2)
        slack.faults.clear()
        await asyncio.sleep(3)
        await served.kill(signal.SIGTERM)
        counts = judge(slack, asked)
        counts["never told"] = len(slack.outbox.lost)
        log = (folder / "log").read_text()
        counts["repaired"] = log.count('"slack_reply_resumed"')
        counts["errors logged"] = log.count('"level": "error"') + log.count('"level":"error"')
        print(f"{len(asked)} questions, {kills} kills, {time.monotonic() - began:.0f} s; log in {folder}")
        tries = (one for delivery in slack.outbox.deliveries for one in delivery.attempts)
        print(acknowledged(tries))
        print(f"start of the process: {max(served.starts):.1f} s at most")
        return counts


def _answered(slack: SlackDouble) -> int:
    return sum(1 for call in slack.calls if call.method == "chat.postMessage" and call.error is None) + sum(
        1 for call in slack.calls if call.method == "chat.startStream" and call.error is None
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--slow", type=float, default=0.3, help="share of answers that take 1.2 s")
    asked = parser.parse_args()
    counts = asyncio.run(run(asked.questions, asked.kills, asked.seed, asked.slow))
    wrong = ("silent", "doubled", "too many", "unfinished")
    print(
        " ".join(
            f"{name}={counts[name]}"
            for name in (*wrong, "never told", "repaired", "apologies", "replies", "errors logged")
        )
    )
    sys.exit(any(counts[name] for name in wrong))


if __name__ == "__main__":
    main()
