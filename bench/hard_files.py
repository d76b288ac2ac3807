"""Hostile and damaged files through the parsers: outcome, seconds and peak memory of each.

    FOOTNOTE_DATA=... python -m bench.hard_files --mutations 300 --seed 1

Every file of `documents/adversarial`, then mutations of the real ones: cut off, bytes flipped, named like
another kind, put into zips within zips. Each must be parsed or refused within 30 s and 1 GiB, and an
ordinary file must be parsed after it.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.protocol import Unreadable
from retrieval.ingest.sandbox import ParserPool
from tests.data import DATA

SECONDS, MEMORY_MB = 30.0, 1024
ENDINGS = (
    "pdf",
    "docx",
    "pptx",
    "xlsx",
    "html",
    "md",
    "csv",
    "eml",
    "rtf",
    "odt",
    "epub",
    "json",
    "txt",
    "zip",
)


@dataclass(frozen=True)
class Outcome:
    name: str
    result: str
    seconds: float
    peak_mb: float
    next_worked: bool

    @property
    def within(self) -> bool:
        return self.seconds <= SECONDS + 2 and self.peak_mb <= MEMORY_MB * 1.2 and self.next_worked


def cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def flip(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.randint(1, 200)):
        if changed:
            changed[dice.randrange(len(changed))] = dice.randrange(256)
    return bytes(changed)


def same(data: bytes, _dice: random.Random) -> bytes:
    return data


def nest(data: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.randint(1, 4)):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(dice.randint(1, 3)):
                archive.writestr(f"../{number}/inner.docx", data)
        data = out.getvalue()
    return data


MUTATIONS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut": cut, "flipped": flip, "renamed": same, "zipped": nest,
}  # fmt: skip


def hard_files(folder: Path, mutations: int, dice: random.Random) -> Iterator[tuple[str, str, bytes]]:
    """(what it is, the name it goes by, its bytes)"""
    for path in sorted((folder / "adversarial").iterdir()):
        yield f"adversarial/{path.name}", path.name, path.read_bytes()
    real = [p for p in sorted((folder / "files").iterdir()) if p.stat().st_size]
    for _ in range(mutations):
        path, kind = dice.choice(real), dice.choice(list(MUTATIONS))
        data = MUTATIONS[kind](path.read_bytes(), dice)
        name = f"{path.stem}.{dice.choice(ENDINGS)}" if kind == "renamed" else path.name
        yield f"{kind}/{path.name}", name, data


async def watch_memory(peak: list[float]) -> None:
    """The largest memory of any of our worker processes."""
    here = psutil.Process()
    while True:
        for child in here.children():
            try:
                peak[0] = max(peak[0], child.memory_info().rss / 2**20)
            except psutil.Error:
                continue
        await asyncio.sleep(0.02)


async def run(folder: Path, mutations: int, seed: int) -> list[Outcome]:
    outcomes: list[Outcome] = []
    limits = ParseLimits(seconds=SECONDS, memory_mb=MEMORY_MB)
    with tempfile.TemporaryDirectory() as place:
        ordinary = Path(place) / "ordinary.md"
        ordinary.write_text("# Ordinary\n\nA file like any other.")
        hard = Path(place) / "hard"
        async with ParserPool(limits, workers=1) as pool:
            for what, name, data in hard_files(folder, mutations, random.Random(seed)):
                hard.write_bytes(data)
                peak = [0.0]
                watching = asyncio.create_task(watch_memory(peak))
                began = time.monotonic()
                try:
                    parsed = await pool.parse(hard, name)
                    result = f"parsed, {len(parsed.sections)} sections"
                except Unreadable as refusal:
                    result = f"refused: {refusal.reason}"
                seconds = time.monotonic() - began
                watching.cancel()
                after = await pool.parse(ordinary, ordinary.name)
                outcomes.append(Outcome(what, result, seconds, peak[0], "like any other" in str(after)))
    return outcomes


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--mutations", type=int, default=300)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    if DATA is None:
        sys.exit("Set FOOTNOTE_DATA to the evaluation data.")
    outcomes = asyncio.run(run(DATA / "documents", given.mutations, given.seed))
    print(f"{'file':50} {'outcome':32} {'s':>6} {'MiB':>6}")
    for one in outcomes:
        if one.name.startswith("adversarial") or not one.within:
            print(f"{one.name:50} {one.result:32} {one.seconds:6.2f} {one.peak_mb:6.0f}")
    for kind in MUTATIONS:
        of_kind = [one for one in outcomes if one.name.startswith(f"{kind}/")]
        counts = Counter(one.result.split(",")[0] for one in of_kind)
        slowest, largest = max(o.seconds for o in of_kind), max(o.peak_mb for o in of_kind)
        print(f"{kind:50} {len(of_kind)} files {' ' * 22} {slowest:6.2f} {largest:6.0f}")
        print("    " + ", ".join(f"{result} {count}" for result, count in counts.most_common()))
    outside = [one for one in outcomes if not one.within]
    print(f"{len(outcomes)} files, {len(outside)} outside of the limits")
    sys.exit(1 if outside else 0)


if __name__ == "__main__":
    main()
