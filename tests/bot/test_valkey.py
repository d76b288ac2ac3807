"""The private server: it keeps what it has answered, whoever is killed, and ends with its owner."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest
from redis.asyncio import Redis

from bot.valkey import PrivateValkey, ValkeyFailed, answers
from tests.bot.doubles import until

OWNER = """
    import asyncio, sys
    from pathlib import Path
    from redis.asyncio import Redis
    from bot.valkey import PrivateValkey

    async def main():
        async with PrivateValkey(Path(sys.argv[1])).running() as socket:
            redis = Redis(unix_socket_path=str(socket))
            for number in range(20):
                await redis.rpush("accepted", number)
            print("ready", flush=True)
            await asyncio.Event().wait()

    asyncio.run(main())
"""


def start_owner(folder: Path) -> subprocess.Popen[bytes]:
    owner = subprocess.Popen([sys.executable, "-c", textwrap.dedent(OWNER), folder], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"ready\n"
    return owner


def kill(owner: subprocess.Popen[bytes]) -> None:
    owner.kill()
    owner.communicate()


async def fill(folder: Path) -> Path:
    """A log with `ALL` in it, as a server that ended has left it."""
    async with PrivateValkey(folder).running() as socket, Redis(unix_socket_path=str(socket)) as redis:
        for number in range(20):
            await redis.rpush("accepted", number)
    return next((folder / "appendonlydir").glob("*.incr.aof"))


async def stored(folder: Path) -> list[bytes]:
    async with PrivateValkey(folder).running() as socket, Redis(unix_socket_path=str(socket)) as redis:
        return await redis.lrange("accepted", 0, -1)


ALL = [str(number).encode() for number in range(20)]


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def ended(process: psutil.Process) -> bool:
    await until(lambda: not alive(process))
    return True


async def test_it_ends_with_an_owner_that_is_killed_and_has_lost_nothing(tmp_path: Path) -> None:
    owner = start_owner(tmp_path)
    server = PrivateValkey(tmp_path).server()
    assert server is not None
    kill(owner)
    assert await ended(server)
    assert await stored(tmp_path) == ALL


async def test_a_server_left_behind_is_ended_before_another_writes_its_log(tmp_path: Path) -> None:
    owner = start_owner(tmp_path)
    server = PrivateValkey(tmp_path).server()
    assert server is not None
    supervisor = server.parent()
    assert supervisor is not None
    supervisor.kill()  # now nobody ends the server with its owner
    kill(owner)
    assert alive(server)
    assert await stored(tmp_path) == ALL
    assert not alive(server)


async def test_a_server_that_is_killed_comes_back_with_everything(tmp_path: Path) -> None:
    valkey = PrivateValkey(tmp_path)
    async with valkey.running() as socket, Redis(unix_socket_path=str(socket)) as redis:
        await redis.set("accepted", "before")
        server = valkey.server()
        assert server is not None
        server.kill()
        assert await ended(server)
        await until(lambda: answers(socket))
        assert await redis.get("accepted") == b"before"


@pytest.mark.parametrize("cut", [1, 7, 20])
async def test_a_log_cut_short_loses_only_what_was_never_answered(tmp_path: Path, cut: int) -> None:
    log = await fill(tmp_path)
    os.truncate(log, log.stat().st_size - cut)
    assert await stored(tmp_path) == ALL[:-1]
    assert await stored(tmp_path) == ALL[:-1]


async def test_a_damaged_log_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    log = await fill(tmp_path)
    damaged = b"?" * 40 + log.read_bytes()
    log.write_bytes(damaged)
    with pytest.raises(ValkeyFailed, match=r"appendonlydir is damaged. Restore that folder"):
        await stored(tmp_path)
    assert log.read_bytes() == damaged


async def test_only_this_user_can_reach_it_and_only_by_its_socket(tmp_path: Path) -> None:
    valkey = PrivateValkey(tmp_path / "state")
    async with valkey.running() as socket:
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600
        assert stat.S_IMODE(valkey.folder.stat().st_mode) == 0o700
        server = valkey.server()
        assert server is not None
        assert not server.net_connections("inet")


async def test_a_folder_with_a_long_path_gets_a_short_socket(tmp_path: Path) -> None:
    folder = tmp_path / ("long " * 30).strip() / "état"
    async with PrivateValkey(folder).running() as socket, Redis(unix_socket_path=str(socket)) as redis:
        assert len(os.fsencode(socket)) <= 100
        await redis.set("a", "b")
    assert list((folder / "appendonlydir").iterdir())


async def test_ctrl_c_in_a_terminal_does_not_reach_the_server(tmp_path: Path) -> None:
    async with PrivateValkey(tmp_path).running() as socket:
        server = PrivateValkey(tmp_path).server()
        assert server is not None
        assert os.getpgid(server.pid) != os.getpgid(0)
        assert await answers(socket)


async def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValkeyFailed, match=r"can't be written: Not a directory. Make it writable"):
        async with PrivateValkey(tmp_path / "file" / "state").running():
            pass


async def test_a_stopped_server_leaves_no_process(tmp_path: Path) -> None:
    valkey = PrivateValkey(tmp_path)
    async with valkey.running():
        server = valkey.server()
        assert server is not None
        supervisor = server.parent()
        assert supervisor is not None
    assert not alive(server)
    assert not alive(supervisor)
