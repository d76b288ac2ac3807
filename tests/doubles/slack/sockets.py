"""Socket Mode: connections that the app opens, envelopes, acknowledgements, refreshes."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.doubles.slack.errors import Json

if TYPE_CHECKING:
    from tests.doubles.slack.core import Core
    from tests.doubles.slack.dispatch import Delivery


class Sockets:
    def __init__(self, core: Core) -> None:
        self._core = core
        self._open: list[web.WebSocketResponse] = []
        self._acks: dict[str, asyncio.Future[Any]] = {}
        self._tickets: set[str] = set()
        self._turn = 0
        self._changed = asyncio.Event()
        #: Connections opened so far.
        self.opened = 0

    @property
    def ready(self) -> bool:
        return bool(self._open)

    def ticket(self) -> str:
        """An address for one connection."""
        made = self._core.world.secret("ticket")
        self._tickets.add(made)
        return (
            f"{self._core.base.replace('http://', 'ws://')}/link/?ticket={made}&app_id={self._core.app.id}"
        )

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403)
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        self.opened += 1
        await socket.send_json(
            {
                "type": "hello",
                "num_connections": len(self._open) + 1,
                "debug_info": {"host": "applink", "build_number": 1, "approximate_connection_time": 18060},
                "connection_info": {"app_id": self._core.app.id},
            }
        )
        self._open.append(socket)
        self._changed.set()
        self._core.outbox.connected()
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._heard(message.data)
        finally:
            if socket in self._open:
                self._open.remove(socket)
        return socket

    def _heard(self, text: str) -> None:
        try:
            said: Any = json.loads(text)
        except ValueError:
            return
        known = isinstance(said, dict) and "envelope_id" in said
        waiting = self._acks.pop(str(said["envelope_id"]), None) if known else None
        if waiting is not None and not waiting.done():
            waiting.set_result(said.get("payload"))

    async def connected(self, count: int = 1) -> None:
        """Wait until the app has opened so many connections in all."""
        while self.opened < count:
            self._changed.clear()
            await self._changed.wait()

    async def send(self, delivery: Delivery, number: int, reason: str | None, seconds: float) -> Any:
        """The payload of the acknowledgement. Raises `TimeoutError`, `OSError` without a connection."""
        if not self._open:
            raise ConnectionError("the app has no connection")
        self._turn += 1
        socket = self._open[self._turn % len(self._open)]
        id = self._core.world.new_id("envelope-")
        envelope: Json = {
            "envelope_id": id,
            "type": delivery.kind,
            "payload": delivery.payload,
            "accepts_response_payload": delivery.kind != "events_api",
        }
        if delivery.kind == "events_api":
            envelope |= {"retry_attempt": number, "retry_reason": reason or ""}
        waiting = self._acks[id] = asyncio.get_running_loop().create_future()
        try:
            await socket.send_json(envelope)
            async with asyncio.timeout(seconds):
                return await waiting
        finally:
            self._acks.pop(id, None)

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Tell each connection that it will be closed, and close it; the app has to open another."""
        for socket in list(self._open):
            with suppress(ConnectionError):
                await socket.send_json(
                    {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink"}}
                )
            await socket.close()

    async def drop(self) -> None:
        """Connections that break without a word."""
        for socket in list(self._open):
            self._open.remove(socket)
            await socket.close(code=1011)

    async def close(self) -> None:
        for socket in list(self._open):
            await socket.close()
