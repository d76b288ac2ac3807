"""A worker whose parser does what the file's name says, to test what becomes of it."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import retrieval.ingest.parse
from retrieval.documents import ParsedDocument, Section
from retrieval.ingest import sandbox_worker
from retrieval.ingest.limits import MIB, ParseLimits

_kept: list[bytearray] = []


def hang() -> str:
    while True:
        time.sleep(60)


def hang_in_native_code() -> str:
    ctypes.PyDLL(None).sleep(600)  # Keeps the interpreter's lock.
    return ""


def abort() -> str:
    os.abort()


def leave() -> str:
    os._exit(0)


def crash() -> str:
    return ctypes.string_at(0).decode()


def fault() -> str:
    raise LookupError("secret words of the document")


def take_memory() -> str:
    _kept.append(bytearray(4096 * MIB))
    return "had it"


def abort_for_memory() -> str:
    os.write(2, b"memory allocation of 549755813888 bytes failed\n")
    os.abort()


def grow() -> str:
    _kept.append(bytearray(b"x") * (150 * MIB))
    return "grown"


def recurse() -> str:
    return recurse()


def print_much() -> str:
    print("noise on stdout" * 10_000, flush=True)
    os.write(1, b"D\0\0\0\1x")
    return "printed"


def send_too_much() -> str:
    os.write(3, sandbox_worker.HEADER.pack(sandbox_worker.SECTIONS, 2**31))
    return "sent"


def send_nonsense() -> str:
    os.write(3, sandbox_worker.HEADER.pack(b"?", 0))
    return "sent"


def environment() -> str:
    return "\n".join(f"{key}={value}" for key, value in os.environ.items())


def network() -> str:
    """Whether it shares its parent's network, and whether that answers: the port is the file's text."""
    try:
        socket.create_connection(("127.0.0.1", int(_data)), timeout=5).close()
    except OSError:
        return "no network"
    return "connected"


def where() -> str:
    return f"{os.getpid()} {os.getpriority(os.PRIO_PROCESS, 0)}"


def wait() -> str:
    """Says which process has the file in work, in the folder that its text names, until told to go on."""
    folder = Path(os.fsdecode(_data))
    (folder / str(os.getpid())).touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    return "here"


_data = b""
_DEEDS: dict[str, Callable[[], str]] = {
    deed.__name__: deed
    for deed in (hang, hang_in_native_code, abort, leave, crash, fault, take_memory, abort_for_memory, grow,
                 recurse, print_much, send_too_much, send_nonsense, environment, network, where, wait)
}  # fmt: skip


def parse(name: str, data: bytes, *, parser: str | None, limits: ParseLimits) -> ParsedDocument:
    global _data
    _data = data
    return ParsedDocument(sections=(Section(markdown=_DEEDS[name]()),), parser=f"{parser}/1")


if __name__ == "__main__":
    retrieval.ingest.parse.parse = parse  # type: ignore[assignment]
    sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
    sandbox_worker.main()
