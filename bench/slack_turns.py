"""How many questions a second one process answers on Slack, and what a turn costs it.

    python -m bench.slack_turns --questions 600 --chunks 10000

`kb serve` runs as its own process against the strict Slack of the tests and a model that takes no time;
both are in the process that measures, so that only the bot's own time is counted. Questions are mentions in
new threads, so each comes as two events and needs a status and a post. Three loads: as many as it answers,
with 48 questions always open; half as many; and all within one moment.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from bench.search import Corpus
from bench.serving import Served, free_port
from bench.slow_model import slow_model
from bot.app import open_app
from bot.config import Config
from tests.doubles.slack import SlackDouble


async def fill(config: Config, team: str, chunks: int) -> Corpus:
    """Chunks of random words and vectors, straight into the index."""
    corpus = Corpus(chunks)
    async with open_app(config) as app:
        workspace = await app.workspaces.of("slack", team)
        for made, vectors in corpus.documents():
            meta = made[0].meta.model_copy(update={"workspace": workspace})
            moved = [chunk.model_copy(update={"meta": meta}) for chunk in made]
            await app.engine.index.stage(moved, vectors)
            await app.engine.index.publish(workspace, meta.document_id, meta.version_id)
    return corpus


def busy(served: Served) -> float:
    """Seconds of processor time of the bot and of its children (Valkey and parsers)."""
    assert served.process is not None
    process = psutil.Process(served.process.pid)
    return sum(sum(each.cpu_times()[:2]) for each in (process, *process.children(recursive=True)))


async def load(
    slack: SlackDouble, corpus: Corpus, questions: int, *, pause: float = 0.0, most: int | None = None
) -> tuple[float, list[float]]:
    """Seconds until every question is answered, and from each question to its reply."""
    team = slack.world.teams[slack.world.first_team]
    channel = next(c for c in slack.world.channels.values() if c.kind == "public")
    person = next(u.id for u in slack.world.users.values() if not u.bot)
    began = time.monotonic()
    waiting: set[str] = set()
    waits: list[float] = []

    def look() -> None:
        for root in list(waiting):
            replies = [message.ts for message in slack.world.thread(channel, root) if message.bot_id]
            if replies:
                waiting.discard(root)
                waits.append(float(replies[0]) - float(root))

    for _ in range(questions):
        waiting.add(slack.say(channel.id, person, f"<@{team.bot_user}> {corpus.text(8)}?"))
        await asyncio.sleep(pause)
        while most is not None and len(waiting) >= most:
            await asyncio.sleep(0.01)
            look()
    while waiting:
        await asyncio.sleep(0.02)
        look()
    return time.monotonic() - began, sorted(waits)


async def bench(questions: int, chunks: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="footnote-slack-turns-"))
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackDouble())
        model = await stack.enter_async_context(slow_model(0, 0))
        team = slack.world.add_team()
        slack.world.add_channel("general", slack.world.add_user("ann").id)
        port = free_port()
        environment = os.environ | {
            "DATA_DIR": str(folder / "data"), "PORT": str(port), "LOG_LEVEL": "warning",
            "SLACK_BOT_TOKEN": f"xoxb-{team.id}", "SLACK_SIGNING_SECRET": slack.app.signing_secret,
            "SLACK_API_URL": slack.api_url, "ANSWER_MODEL": "openai:quick", "OPENAI_BASE_URL": model,
            "OPENAI_API_KEY": "none", "FEATURE_FLAG_REPHRASE": "false",
        }  # fmt: skip
        os.environ.update(environment)
        corpus = await fill(Config(), team.id, chunks)
        served = Served(environment, folder / "log", port)
        await served.start()
        slack.outbox.url = f"http://127.0.0.1:{port}/slack/events"
        await load(slack, corpus, 20)
        table = Table(
            "load", "questions / s", "CPU ms a turn", "reply p50 / p95 ms", "ack p50 / p95 ms", "MiB"
        )
        pause = 0.0
        for name in ("48 open", "half as many", "in one moment"):
            slack.outbox.deliveries.clear()
            before = busy(served)
            most = 48 if name == "48 open" else None
            wait = pause if name == "half as many" else 0.0
            seconds, waits = await load(slack, corpus, questions, pause=wait, most=most)
            cpu = (busy(served) - before) / questions
            acks = sorted(d.attempts[-1].seconds for d in slack.outbox.deliveries if d.acknowledged)
            pause = pause or 2 * seconds / questions
            assert served.process is not None
            memory = psutil.Process(served.process.pid).memory_info().rss / 2**20
            table.add_row(
                name, f"{questions / seconds:.1f}", f"{cpu * 1000:.1f}", _spread(waits), _spread(acks),
                f"{memory:.0f}",
            )  # fmt: skip
        await served.kill(signal.SIGTERM)
    Console().print(table)


def _spread(seconds: list[float]) -> str:
    return " / ".join(f"{seconds[int(len(seconds) * part)] * 1000:.0f}" for part in (0.5, 0.95))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--chunks", type=int, default=10_000)
    asked = parser.parse_args()
    asyncio.run(bench(asked.questions, asked.chunks))


if __name__ == "__main__":
    main()
