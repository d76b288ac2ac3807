"""One process owns a data folder; the others find its socket and work through it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import IO

from aiohttp import web

if os.name == "nt":
    import msvcrt

    def _try_lock(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
else:
    import fcntl

    def _try_lock(file: IO[str]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


#: Bytes that a unix socket's path may have on every system (macOS has 104, Linux 108).
MAX_SOCKET_PATH = 100


class OwnedElsewhere(Exception):
    """Another process owns the data folder."""


def socket_path(folder: Path, name: str) -> Path:
    """Where a unix socket of this data folder lies: in it, or in a private folder if its path is long."""
    path = folder.resolve() / name
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
        return path
    digest = hashlib.sha256(os.fsencode(path.parent)).hexdigest()[:16]
    private = Path(tempfile.gettempdir()) / f"footnote-{os.getuid()}-{digest}"
    private.mkdir(mode=0o700, exist_ok=True)
    if private.stat().st_uid != os.getuid():
        raise PermissionError(f"{private} belongs to somebody else")
    return private / name


class DataFolder:
    """Holds the folder's lock while it is open. The system lets go of it however the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    def own(self) -> None:
        """Raises `OwnedElsewhere`, or `OSError` where the folder can't be made or written."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = (self.path / "owner.lock").open("a+")
        try:
            _try_lock(file)
        except OSError:
            file.close()
            raise OwnedElsewhere(str(self.path)) from None
        file.seek(0)
        file.truncate()
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._lock = file

    def owner(self) -> int | None:
        """Process id of the owner, as far as it has written it down."""
        with contextlib.suppress(OSError, ValueError):
            return int((self.path / "owner.lock").read_text())
        return None

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def control(self) -> Path:
        return socket_path(self.path, "kb.sock")


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


@contextlib.asynccontextmanager
async def serve_socket(app: web.Application, path: Path) -> AsyncGenerator[None]:
    """Serve `app` on a unix socket that only this user can open."""
    _remove(path)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    old = os.umask(0o177)
    try:
        await web.UnixSite(runner, str(path)).start()
    finally:
        os.umask(old)
    try:
        yield
    finally:
        _remove(path)
        await runner.cleanup()


async def wait_for_socket(path: Path, *, seconds: float = 20.0) -> bool:
    """Whether somebody answers on `path` within `seconds` (an owner may still be starting)."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_unix_connection(str(path))
            writer.close()
            return True
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.1)
