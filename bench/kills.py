"""Kills at random moments, over uploads, re-uploads, deletes and rebuilds of 30 documents.

    python -m bench.kills --kills 200 --seed 7

A child process owns a data folder and works through a random plan, noting each operation before it begins
and after it was acknowledged. Its parent kills it, its Valkey or one of its parsers at a random moment,
and starts it again. At the end a last child finishes what is queued, and everything is compared: records,
index, files, and what a search finds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from adapters.conversation import UploadedFile
from adapters.ports import UploadOptions
from bot.app import App, open_app
from bot.config import Config
from bot.connect import local_actor
from retrieval.documents import EVERYONE
from retrieval.index.protocol import QueryText
from retrieval.scope import Scope

WORKSPACE = "kills"
DOCUMENTS = 30
ACTOR = local_actor(WORKSPACE)
SCOPE = Scope(workspace=WORKSPACE, audience=frozenset({EVERYONE}))


def word(name: str, version: int) -> str:
    """A word that stands in one version of one document and nowhere else, not even within another's."""
    return f"zq{name}x{version}z"


def text(name: str, version: int) -> str:
    part = f"The word of this version is {word(name, version)}. " + "It is about keys and doors. " * 40
    return "\n\n".join(f"# Part {number}\n\n{part}" for number in range(4))


class Journal:
    """What was begun and what was acknowledged, a line each, on disk before the next step."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def note(self, event: str, operation: str, name: str, version: int) -> None:
        self._file.write(json.dumps([event, operation, name, version]) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


@dataclass
class Wanted:
    """What a document may be at the end: the newest acknowledged state, or one begun after it."""

    states: dict[str, set[int]] = field(default_factory=lambda: defaultdict(lambda: {0}))
    versions: Counter[str] = field(default_factory=Counter)
    #: Versions begun since the document was last deleted: where the newest fails, an older one stays.
    since: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def read(cls, path: Path) -> Wanted:
        wanted = cls()
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            event, operation, name, version = json.loads(line)
            if operation == "rebuild":
                continue
            wanted.versions[name] = max(wanted.versions[name], version)
            state = version if operation == "upload" else 0
            if operation == "upload":
                wanted.since[name].add(version)
            elif event == "done":
                wanted.since[name].clear()
            if event == "began":
                wanted.states[name] = wanted.states[name] | {state}
            else:
                wanted.states[name] = {state}
        return wanted


async def child(folder: Path, seed: int, *, last: bool) -> None:
    wanted = Wanted.read(folder / "journal")
    journal = Journal(folder / "journal")
    async with open_app(Config.model_validate({"data_dir": folder / "data"})) as app:
        await app.workspaces.of("cli", WORKSPACE)
        print("open", flush=True)
        if last:
            await settle(app)
            print(json.dumps(await compare(app, folder, wanted)), flush=True)
            return
        dice = random.Random(seed)
        while True:
            await operate(app, folder, dice, journal, wanted)
            await asyncio.sleep(dice.random() * 0.2)


async def operate(app: App, folder: Path, dice: random.Random, journal: Journal, wanted: Wanted) -> None:
    name = f"d{dice.randrange(DOCUMENTS)}"
    present = [d for d in await app.documents.list(ACTOR) if d.name == f"{name}.md"]
    if dice.random() < 0.02:
        journal.note("began", "rebuild", "", 0)
        async for _ in app.admin.reindex():
            pass
        return
    if present and dice.random() < 0.25:
        journal.note("began", "delete", name, 0)
        for document in present:
            await app.documents.delete(ACTOR, document.document_id)
        journal.note("done", "delete", name, 0)
        return
    wanted.versions[name] += 1
    version = wanted.versions[name]
    path = folder / "upload"
    path.write_text(text(name, version))
    journal.note("began", "upload", name, version)
    file = UploadedFile(name=f"{name}.md", path=path, size=path.stat().st_size)
    (item,) = (await app.documents.upload(ACTOR, [file], UploadOptions())).items
    assert item.stage != "failed", item
    journal.note("done", "upload", name, version)


async def settle(app: App) -> None:
    """Wait for everything that is queued."""
    while waiting := [d for d in await app.documents.list(ACTOR) if not d.state.finished]:
        async for _ in app.documents.watch(ACTOR, [d.state.version_id for d in waiting]):
            pass


async def compare(app: App, folder: Path, wanted: Wanted) -> dict[str, int]:
    """How often each fault is there; all must be 0. `failed` is none: those were refused in a sentence."""
    faults: Counter[str] = Counter(
        lost=0, doubled=0, half_searchable=0, wrong=0, orphaned_chunks=0, orphaned_files=0, failed=0
    )
    documents = await app.documents.list(ACTOR)
    names = Counter(d.name for d in documents)
    failed = {d.name for d in documents if d.state.stage == "failed" and d.state.message}
    faults["failed"] = len(failed)
    faults["doubled"] += sum(count - 1 for count in names.values())
    for name, states in wanted.states.items():
        found = await versions_found(app, name, wanted.versions[name])
        there = names[f"{name}.md"] > 0
        if not there and 0 not in states:
            faults["lost"] += 1
        refused = f"{name}.md" in failed
        if there and not found and not refused:
            faults["half_searchable"] += 1
        if len(found) > 1 or not found <= (wanted.since[name] if refused else states):
            faults["wrong"] += 1
    known = {(d.document_id, d.version_id) for d in documents}
    stored = await app.engine.index.versions(WORKSPACE)
    faults["orphaned_chunks"] += sum((d, v) not in known or not live for d, v, live in stored)
    versions = {version for _, version in known} | {d.state.version_id for d in documents}
    files = [p for p in (folder / "data" / "files").rglob("*") if p.is_file()]
    faults["orphaned_files"] += sum(not any(v in str(p) for v in versions) for p in files)
    chunks = {d.document_id: d.chunks for d in documents}
    total = (await app.engine.index.stats()).chunks
    faults["orphaned_chunks"] += abs(total - sum(chunks.values()))
    return dict(faults)


async def versions_found(app: App, name: str, newest: int) -> set[int]:
    found: set[int] = set()
    for version in range(1, newest + 1):
        vector = (await app.engine.roles.embedder.embed_queries([word(name, version)]))[0]
        query = QueryText(word(name, version), vector)
        hits = await app.engine.index.search(SCOPE, [query], limit=3, mode="keyword")
        if any(word(name, version) in hit.chunk.text for hit in hits):
            found.add(version)
    return found


def start(folder: Path, seed: int, *, last: bool = False) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.kills", "--child", str(folder), "--seed", str(seed)]
    log = (folder / "log").open("a")
    return subprocess.Popen(
        [*command, *(["--last"] if last else [])], stdout=subprocess.PIPE, stderr=log, text=True
    )


def kill_one(process: subprocess.Popen[str], dice: random.Random) -> str:
    """Kill the owner, or one of the processes that it started; says which."""
    try:
        others = psutil.Process(process.pid).children(recursive=True)
        victim = dice.choice([None, None, *others])
        if victim is not None:
            name = "valkey" if "valkey" in victim.name() else "parser"
            victim.kill()
            time.sleep(dice.random() * 2)
            return name
    except psutil.NoSuchProcess:
        pass
    return "owner"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kills", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--child", type=Path)
    arguments.add_argument("--last", action="store_true")
    given = arguments.parse_args()
    if given.child:
        asyncio.run(child(given.child, given.seed, last=given.last))
        return
    dice = random.Random(given.seed)
    killed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="footnote-kills-") as place:
        folder = Path(place)
        began = time.monotonic()
        while killed.total() < given.kills:
            process = start(folder, dice.randrange(10**9))
            assert process.stdout
            if dice.random() < 0.8:  # else while it starts and mends
                process.stdout.readline()
            time.sleep(dice.random() * 4)
            killed[kill_one(process, dice)] += 1
            process.send_signal(signal.SIGKILL)
            process.wait()
        last = start(folder, 0, last=True)
        output = last.communicate(timeout=900)[0].splitlines()
        operations = Counter(
            " ".join(json.loads(line)[:2]) for line in (folder / "journal").read_text().splitlines()
        )
        print(f"{killed.total()} kills in {time.monotonic() - began:.0f} s: {dict(killed)}")
        print(f"operations: {dict(operations)}")
        if last.returncode != 0:
            print((folder / "log").read_text()[-3000:])
            sys.exit(1)
        faults = json.loads(output[-1])
        print(" ".join(f"{name}={count}" for name, count in faults.items()))
        del faults["failed"]
        sys.exit(1 if any(faults.values()) else 0)


if __name__ == "__main__":
    main()
