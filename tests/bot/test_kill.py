"""What a killed process leaves behind is finished by the next one: nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.config import Config
from bot.failures import CRASHED
from bot.reconcile import reconcile
from bot.state import open_state
from tests.bot.doubles import House, SqliteIndex

#: Accepts files, replaces one, deletes one and ingests, in a process that ends by SIGKILL: after the
#: given number of steps, where a step is a change in the state store, the index or the files.
PROCESS = """
    import asyncio, os, signal, sys
    from pathlib import Path
    from redis.asyncio.connection import AbstractConnection

    from bot.config import Config
    from bot.files import Files
    from bot.reconcile import reconcile
    from bot.state import open_state
    from tests.bot.doubles import House, SqliteIndex

    folder, steps = Path(sys.argv[1]), int(sys.argv[2])
    WRITES = (b"EXEC", b"EVALSHA", b"SET", b"XADD")

    def step():
        global steps
        steps -= 1
        if steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    class Index(SqliteIndex):
        async def _step(self, name):
            step()
            await super()._step(name)

    send = AbstractConnection.send_packed_command
    async def counted(self, command, check_health=True):
        if any(write in part for part in command for write in WRITES):
            step()
        await send(self, command, check_health)
    put = Files._put
    async def counted_put(self, key, source):
        step()
        await put(self, key, source)
        step()

    async def main():
        async with open_state(Config(data_dir=folder)) as state:
            index = Index(folder / "index")
            house = House(state.redis, state.url, folder, index=index, tick=1.0)
            async with house.tickets.opened():
                await reconcile(house.library, house.queue, alone=True)
                AbstractConnection.send_packed_command = counted
                Files._put = counted_put
                async with house.working():
                    print("accepted", *await house.accept("old\\nolder", "replaced.md"), flush=True)
                    print("accepted", *await house.accept("secret\\nsecret", "deleted.md"), flush=True)
                    ids = [
                        await house.accept(f"{n}\\n{n}", f"{n}.md", uploader=f"u{n % 2}") for n in range(3)
                    ]
                    for pair in ids:
                        print("accepted", *pair, flush=True)
                    print("accepted", *await house.accept("new\\nnewer", "replaced.md"), flush=True)
                    for document in await house.library.list("acme"):
                        if document.name == "deleted.md":
                            print("deleting", document.document_id, flush=True)
                            await house.library.delete("acme", document.document_id)
                    await house.end_of(*(version for _, version in ids))
        print("end", flush=True)

    asyncio.run(main())
"""


def run(folder: Path, steps: int) -> list[list[str]]:
    """The lines that the process has written, in words."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROCESS), folder, str(steps)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    return [line.split() for line in done.stdout.decode().splitlines()]


@pytest.mark.parametrize("seed", range(4))
async def test_a_kill_at_any_step_loses_and_doubles_nothing(tmp_path: Path, seed: int) -> None:
    lines = run(tmp_path, steps=random.Random(seed).randrange(2, 190))
    index = SqliteIndex(tmp_path / "index")
    async with open_state(Config(data_dir=tmp_path)) as state:
        house = House(state.redis, state.url, tmp_path, index=index)
        async with house.tickets.opened():
            await reconcile(house.library, house.queue, alone=True)
            async with house.working():
                for document in await house.library.list("acme"):
                    await house.end_of(document.latest.meta.version_id)
            documents = {d.name: d for d in await house.library.list("acme")}
            again = await reconcile(house.library, house.queue, alone=True)
            assert (again.requeued, again.discarded, again.files) == (0, 0, 0), "all was in agreement"
            everything = await house.everything()

    said = {tuple(line[1:]) for line in lines if line[0] == "accepted"}
    deleting = {line[1] for line in lines if line[0] == "deleting"}
    known = {d.document_id for d in documents.values()}
    assert {document_id for document_id, _ in said} - deleting <= known, "what was accepted is there"
    assert len(documents) == len(known), "no document is there twice"
    for document in documents.values():
        assert document.latest.status.stage == "done"
        assert document.current == document.latest
        texts = index.texts(document.document_id)
        expected = {"replaced.md": ["new", "newer"], "deleted.md": ["secret", "secret"]}.get(
            document.name, [document.name[0]] * 2
        )
        if document.name == "replaced.md" and document.current.meta.version == 1:
            expected = ["old", "older"]
        assert texts == expected
    stored = (await index.stats()).chunks
    assert stored == 2 * len(documents), "the index holds nothing else"
    if "deleted.md" not in documents:
        assert "secret" not in everything
    files = sorted(path.name for path in (tmp_path / "files").rglob("*") if path.is_file())
    assert len(files) == 2 * len(documents), files


async def test_a_file_that_kills_every_process_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.ingestion.MAX_STARTS", 2)
    for _ in range(2):
        poison(tmp_path)
    async with open_state(Config(data_dir=tmp_path)) as state:
        house = House(state.redis, state.url, tmp_path, index=SqliteIndex(tmp_path / "index"))
        async with house.tickets.opened():
            await reconcile(house.library, house.queue, alone=True)
            async with house.working():
                documents = {d.name: d for d in await house.library.list("acme")}
                ids = [d.latest.meta.version_id for d in documents.values()]
                progress = await house.end_of(*ids)
    stages = {item.name: item.stage for item in progress.items}
    assert stages == {"poison.md": "failed", "harmless.md": "done"}
    assert {item.message for item in progress.items} == {CRASHED, ""}


POISON = """
    import asyncio, sys
    from pathlib import Path
    from bot.config import Config
    from bot.reconcile import reconcile
    from bot.state import open_state
    from tests.bot.doubles import House, SqliteIndex

    async def main():
        folder = Path(sys.argv[1])
        async with open_state(Config(data_dir=folder)) as state:
            index = SqliteIndex(folder / "index")
            house = House(state.redis, state.url, folder, index=index, concurrency=1)
            async with house.tickets.opened():
                await house.accept("*", "poison.md")
                await house.accept("harmless", "harmless.md")
                await reconcile(house.library, house.queue, alone=True)
                async with house.working():
                    await asyncio.Event().wait()

    asyncio.run(main())
"""


def poison(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(POISON), folder],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == -9


async def test_another_worker_takes_over_when_the_lease_of_a_killed_one_runs_out(
    redis: Redis, valkey_socket: Path, tmp_path: Path
) -> None:
    """In production nobody knows that a worker died but for its silence."""
    index = SqliteIndex(tmp_path / "index")
    house = House(redis, f"unix://{valkey_socket}", tmp_path, index=index, lease_ms=1000)
    async with house.tickets.opened():
        document_id, version_id = await house.accept("one\ntwo")
        killed = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-c", textwrap.dedent(WORKER), str(valkey_socket), str(tmp_path)),
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=asyncio.subprocess.PIPE,
        )
        assert killed.stdout is not None
        assert await killed.stdout.readline() == b"working\n"
        killed.kill()
        await killed.wait()
        async with house.working():
            [item] = (await house.end_of(version_id)).items
    assert item.stage == "done"
    assert house.ingestor.begun == ["notes.md"]
    assert index.texts(document_id) == ["one", "two"]


WORKER = """
    import asyncio, sys
    from pathlib import Path
    from redis.asyncio import Redis
    from tests.bot.doubles import House, SqliteIndex

    async def main():
        socket, folder = sys.argv[1], Path(sys.argv[2])
        index = SqliteIndex(folder / "index")
        redis = Redis(unix_socket_path=socket)
        house = House(redis, f"unix://{socket}", folder, index=index, lease_ms=1000)

        async def hang(meta, stage):
            if stage == "indexing":
                print("working", flush=True)
                await asyncio.Event().wait()

        house.ingestor.hook = hang
        async with house.tickets.opened(), house.working():
            await asyncio.Event().wait()

    asyncio.run(main())
"""
