"""A connection that can be cut: relays bytes to a server until then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Relay:
    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "", parts.port or 0
        self._writers: set[asyncio.StreamWriter] = set()
        self.address = ""
        self.cut = False

    def break_off(self) -> None:
        """Reset every connection, and refuse new ones until `cut` is False again."""
        self.cut = True
        for writer in self._writers:
            writer.transport.abort()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.cut:
            writer.transport.abort()
            return
        from_server, to_server = await asyncio.open_connection(self._host, self._port)
        self._writers |= {writer, to_server}
        with suppress(ConnectionError):
            await asyncio.gather(_copy(reader, to_server), _copy(from_server, writer))
        self._writers -= {writer, to_server}
        for one in (writer, to_server):
            one.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


@asynccontextmanager
async def relayed(address: str) -> AsyncGenerator[Relay]:
    relay = Relay(address)
    server = await asyncio.start_server(relay.connect, "127.0.0.1")
    relay.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield relay
    finally:
        relay.break_off()
        server.close()
