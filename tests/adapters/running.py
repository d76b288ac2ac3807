"""An adapter as it runs in tests: on a real server, with the bot's own stores on a real Valkey."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from redis.asyncio import Redis

from bot.inbox import InboxStore
from bot.notes import NoteStore
from bot.transcript import TranscriptStore
from tests.adapters.scripted import ScriptedBot


def give_stores(bot: ScriptedBot, redis: Redis) -> tuple[InboxStore, TranscriptStore]:
    """The bot's own, as the program has them."""
    inbox, transcript = InboxStore(redis, tick=0.02), TranscriptStore(redis)
    for name, port in {"inbox": inbox, "notes": NoteStore(redis), "transcript": transcript}.items():
        setattr(bot, name, port)
    return inbox, transcript


@asynccontextmanager
async def listening(routes: Iterable[web.RouteDef]) -> AsyncGenerator[str]:
    """Gives the address, without a slash at its end."""
    application = web.Application()
    application.add_routes(routes)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def settled(deliver: Callable[[], Awaitable[Any]], inbox: InboxStore, *queues: str) -> None:
    """Until everything that people did is told and worked."""
    async with asyncio.timeout(30):
        while True:
            await deliver()
            if not any([await inbox.waiting(queue) for queue in queues]):
                return
            await asyncio.sleep(0.005)
