"""Ports over a socket behave as they do in the process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

import pytest

from adapters.conversation import Delta, Reply, ReplyEvent
from adapters.ports import Refused, UploadOptions
from bot.owner import serve_socket, socket_path, wait_for_socket
from bot.rpc import OwnerGone, Remote, RemoteError, Served


class Port(Protocol):
    async def add(self, numbers: Sequence[int], *, options: UploadOptions | None = None) -> list[int]: ...

    def count(self, upto: int) -> AsyncIterator[ReplyEvent]: ...

    async def fail(self, how: str) -> None: ...


class Here:
    def __init__(self) -> None:
        self.closed = asyncio.Event()

    async def add(self, numbers: Sequence[int], *, options: UploadOptions | None = None) -> list[int]:
        return [*numbers, len(options.labels) if options else 0]

    async def count(self, upto: int) -> AsyncIterator[ReplyEvent]:
        try:
            for number in range(upto):
                yield Delta(text=f"{number} é\n")
                await asyncio.sleep(0)
            yield Reply(turn_id="t", kind="answer", text="end")
        finally:
            self.closed.set()

    async def fail(self, how: str) -> None:
        if how == "refused":
            raise Refused("No.")
        raise RuntimeError("boom")


@pytest.fixture
async def ports(tmp_path: Path):
    here = Here()
    path = socket_path(tmp_path, "s")
    async with serve_socket(Served({"port": (Port, here)}).application(), path):
        assert await wait_for_socket(path, seconds=5)
        remote = Remote(str(path))
        yield here, remote.port("port", Port)
        await remote.close()


async def test_calls_streams_and_errors(ports: tuple[Here, Port]) -> None:
    _, port = ports
    assert await port.add([1, 2], options=UploadOptions(labels=("a", "b"))) == [1, 2, 2]
    assert await port.add((5,)) == [5, 0]
    events = [event async for event in port.count(3)]
    assert events[0] == Delta(text="0 é\n")
    assert events[-1] == Reply(turn_id="t", kind="answer", text="end")
    with pytest.raises(Refused, match=r"No\."):
        await port.fail("refused")
    with pytest.raises(RemoteError, match="boom"):
        await port.fail("otherwise")


async def test_a_reader_that_leaves_ends_the_work(ports: tuple[Here, Port]) -> None:
    here, port = ports
    stream = port.count(10**9)
    async with aclosing(stream):  # type: ignore[type-var]
        async for _ in stream:
            break
    await asyncio.wait_for(here.closed.wait(), 10)


async def test_an_owner_that_ends_is_told(tmp_path: Path) -> None:
    remote = Remote(str(tmp_path / "nobody"))
    with pytest.raises(OwnerGone):
        await remote.port("port", Port).add([1])
    await remote.close()


def test_a_long_folder_gets_a_short_socket(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 90)
    assert len(str(socket_path(deep, "kb.sock"))) < 100
    assert socket_path(deep, "kb.sock") == socket_path(deep, "kb.sock")
