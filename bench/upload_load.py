"""What an upload of many files costs the questions that are asked meanwhile.

    python -m bench.upload_load [--rounds N] [--questions N]

The whole bot in this process, without any key: questions go through the turn to the end of the extractive
answer while documents are parsed, cut, embedded and indexed. Rounds without and with the upload take turns,
so that a busy machine disturbs both alike. Every question is another one, so that no vector is remembered.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

from adapters.ports import Actor, UploadOptions
from bench.embed import SENTENCES
from bot import demo
from bot.app import App, open_app
from bot.config import Config
from bot.connect import local_actor
from bot.talk import turn_of

FILES, SECTIONS = 400, 12
TOPICS = ("my API key", "travel costs", "a meeting room", "sick leave", "a guest", "the laptop", "a refund")


def files(folder: Path, run: int) -> list[Path]:
    """Markdown of about 3,000 tokens each."""
    folder.mkdir()
    made: list[Path] = []
    for number in range(FILES):
        heads = (f"## Section {section} of {run}-{number}\n\n" for section in range(SECTIONS))
        body = "\n\n".join(head + " ".join(SENTENCES * 3) for head in heads)
        made.append(folder / f"notes-{run}-{number}.md")
        made[-1].write_text(body)
    return made


async def ask(app: App, actor: Actor, count: int, start: int) -> list[float]:
    """Milliseconds from each question to the end of its answer."""
    times: list[float] = []
    for number in range(start, start + count):
        text = f"What do I have to do about {TOPICS[number % len(TOPICS)]} in case {number}?"
        began = time.perf_counter()
        async for _ in app.answers.answer(turn_of(actor, text)):
            pass
        times.append((time.perf_counter() - began) * 1000)
    return times


async def under_way(app: App, actor: Actor, versions: list[str]) -> None:
    async for progress in app.documents.watch(actor, versions):
        if any(item.stage == "embedding" for item in progress.items):
            return


async def bench(rounds: int, questions: int) -> None:
    alone: list[float] = []
    beside: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        os.environ["DATA_DIR"] = place
        async with open_app(Config()) as app:
            actor = local_actor(await app.workspaces.of("cli", "bench"))
            accepted = await demo.load_handbook(app.documents, actor)
            async for _ in app.documents.watch(actor, [item.version_id for item in accepted.items]):
                pass
            asked = len(await ask(app, actor, 5, 0))
            for run in range(rounds):
                alone += await ask(app, actor, questions, asked)
                upload = demo.files_in(files(Path(place) / f"upload-{run}", run))
                accepted = await app.documents.upload(actor, upload, UploadOptions())
                versions = [item.version_id for item in accepted.items]
                await under_way(app, actor, versions)
                beside += await ask(app, actor, questions, asked + questions)
                asked += 2 * questions
                await app.documents.cancel(actor, versions)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {len(alone)} questions each\n")
    print(f"{'':8} {'alone ms':>10} {'beside ms':>10} {'delay ms':>10} {'ratio':>6}")
    for name, (low, high) in {"p50": spread(alone, beside, 50), "p95": spread(alone, beside, 95)}.items():
        print(f"{name:8} {low:10.0f} {high:10.0f} {high - low:10.0f} {high / low:6.2f}")


def spread(alone: list[float], beside: list[float], percent: int) -> tuple[float, float]:
    low, high = (
        statistics.quantiles(times, n=100, method="inclusive")[percent - 1] for times in (alone, beside)
    )
    return low, high


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--questions", type=int, default=10)
    options = parser.parse_args()
    asyncio.run(bench(options.rounds, options.questions))


if __name__ == "__main__":
    main()
