"""`kb serve` and `kb worker`: what runs until it is stopped."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from adapters.ports import Refused
from adapters.web.guard import is_loopback
from adapters.web.page import web_application
from bot.app import App
from bot.config import Config
from bot.connect import own
from bot.owner import DataFolder, OwnedElsewhere
from bot.slack import open_slack
from bot.teams import open_teams
from bot.workspaces import LOCAL

log = structlog.get_logger()


def stopped() -> asyncio.Event:
    """Set at SIGINT or SIGTERM."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, event.set)
    return event


async def _metrics(_request: web.Request) -> web.Response:
    return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})


def application(
    app: App, config: Config, *, workspace: str | None, routes: Sequence[web.RouteDef] = ()
) -> web.Application:
    """All that is served over HTTP. The chat page is for loopback only: it has no login."""
    page = workspace if is_loopback(config.host) else None
    application = web_application(app, spool=app.spool, workspace=page)

    async def health(_request: web.Request) -> web.Response:
        problems = await app.problems()
        return web.json_response(
            {"status": "problem" if problems else "fine", "problems": problems},
            status=503 if problems else 200,
        )

    application.add_routes(routes)
    application.router.add_get("/health", health)
    application.router.add_get("/metrics", _metrics)
    return application


@asynccontextmanager
async def serving(
    app: App, config: Config, *, workspace: str | None, routes: Sequence[web.RouteDef] = ()
) -> AsyncGenerator[str]:
    """Serve while the context is open; gives the address. Raises `Refused` where the port is taken."""
    runner = web.AppRunner(
        application(app, config, workspace=workspace, routes=routes),
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=10,
    )
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, config.host, config.port).start()
        except OSError as error:
            raise Refused(
                f"Port {config.port} on {config.host} can't be used ({error.strerror}). Set another PORT."
            ) from error
        address = f"http://{config.host}:{runner.addresses[0][1]}"
        if is_loopback(config.host):
            app.links.local_url = address
        log.info("serving", address=address)
        yield address
    finally:
        await runner.cleanup()


@asynccontextmanager
async def alone(config: Config) -> AsyncGenerator[App]:
    """Own the data folder. Raises `Refused` where another process does."""
    async with AsyncExitStack() as stack:
        try:
            app = await stack.enter_async_context(own(config))
        except OwnedElsewhere:
            owner = DataFolder(config.data_dir).owner()
            raise Refused(
                f"Footnote runs already with {config.data_dir} (process {owner}). Use it, or stop it first."
            ) from None
        yield app


async def serve(config: Config) -> None:
    """Everything in one process, until SIGINT or SIGTERM."""
    stop = stopped()
    async with alone(config) as app, AsyncExitStack() as stack:
        adapters = [adapter for adapter in (open_slack(config, app), open_teams(config, app)) if adapter]
        routes = [route for adapter in adapters for route in adapter.routes()]
        await stack.enter_async_context(serving(app, config, workspace=LOCAL, routes=routes))
        for adapter in adapters:
            await stack.enter_async_context(adapter.running())
        await stop.wait()


async def work(config: Config) -> None:
    """Only the ingest, until SIGINT or SIGTERM."""
    missing = [
        name
        for name, value in (
            ("REDIS_URL", config.redis_url),
            ("QDRANT_URL", config.qdrant_url),
            ("FILES_URL", config.files_url),
        )
        if value is None
    ]
    if missing:
        raise Refused(
            f"A worker beside others shares their stores: set {', '.join(missing)}. "
            "With the embedded stores `kb serve` does this work itself."
        )
    stop = stopped()
    async with alone(config):
        await stop.wait()
