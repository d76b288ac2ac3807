"""Microsoft's Agents Playground, a Teams client of theirs that runs on this machine: started, talked to as
its own window does, and watched.

It is licensed for evaluation, so nothing of it is here: it is used where somebody has installed it.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from aiohttp import ClientError, ClientSession, ClientTimeout, web

from bench.serving import free_port

Json = dict[str, Any]


def _user(number: int, given: str, surname: str) -> Json:
    mail = f"{given}.{surname}@example.com".lower()
    return {
        "id": f"29:user-{number}", "name": f"{given} {surname}", "userPrincipleName": mail, "email": mail,
        "aadObjectId": f"33333333-3333-4333-8333-{number:012}", "givenName": given, "surname": surname,
    }  # fmt: skip


#: Who is there, as the Playground wants it: five others, one chat, one team. Ids look as they do in Teams.
WORLD: Final[Json] = {
    "version": "0.1.1",
    "tenantId": "11111111-1111-4111-8111-111111111111",
    "bot": {"id": "28:22222222-2222-4222-8222-222222222222", "name": "Footnote"},
    "currentUser": _user(0, "Ann", "Weber"),
    "users": [
        _user(1, "Ben", "Okafor"), _user(2, "Chiara", "Neri"), _user(3, "Daniel", "Roth"),
        _user(4, "Elif", "Demir"), _user(5, "Femke", "Visser"),
    ],
    "personalChat": {"id": "a:personal"},
    "groupChat": {"id": "19:group@thread.v2", "name": "Release 4.2"},
    "team": {
        "id": "19:team@thread.tacv2", "name": "Meridian",
        "aadGroupId": "55555555-5555-4555-8555-555555555555",
        "channels": [{"id": "19:help@thread.tacv2", "name": "it-help"}],
    },
}  # fmt: skip


@dataclass
class Exchange:
    """An activity that the Playground sent, and what the bot answered at once."""

    activity: Json
    status: int
    body: Any


class Relay:
    """Stands between the Playground and the bot, since the Playground shows nobody what the bot answers
    to an activity; and serves files, as Teams' file store does."""

    def __init__(self, bot: str) -> None:
        self._bot = bot
        self.exchanges: list[Exchange] = []
        self.files: dict[str, bytes] = {}
        self.url = ""

    async def _message(self, request: web.Request) -> web.Response:
        body = await request.read()
        timeout = ClientTimeout(total=30)
        headers = {"Content-Type": "application/json"}
        async with (
            ClientSession(timeout=timeout) as session,
            session.post(self._bot, data=body, headers=headers) as answer,
        ):
            said = await answer.read()
            with suppress(ValueError):
                parsed = json.loads(said) if said else None
                self.exchanges.append(Exchange(json.loads(body), answer.status, parsed))
            return web.Response(body=said, status=answer.status, content_type=answer.content_type)

    async def _file(self, request: web.Request) -> web.Response:
        found = self.files.get(request.match_info["name"])
        return web.Response(status=404) if found is None else web.Response(body=found)

    async def __aenter__(self) -> Relay:
        application = web.Application()
        application.router.add_post("/api/messages", self._message)
        application.router.add_get("/files/{name}", self._file)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()


@dataclass
class Playground:
    """The client of one person, `me`. `events` is all that it told its window, oldest first."""

    url: str
    session: ClientSession
    config: Json
    events: list[Json] = field(default_factory=list[Json])

    async def raw(self, activity: Json) -> None:
        """To the bot as it stands."""
        async with self.session.post(f"{self.url}/_internal/v1/customActivities", json=activity) as answer:
            answer.raise_for_status()


async def until(found: Callable[[], Any], what: str, *, seconds: float = 30.0) -> Any:
    """What `found` gives as soon as it is true. Raises `AssertionError` that says what did not come."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not (seen := found()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            return seen
    raise AssertionError(f"There is no {what} after {seconds:.0f} seconds.")


@asynccontextmanager
async def playground(cli: Path, endpoint: str, folder: Path) -> AsyncGenerator[Playground]:
    """Runs while the context is open.

    Args:
        endpoint: the bot's, which is up.
        folder: for its configuration and its logs.
    """
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("Node.js is needed to run the Playground.")
    configured = folder / "playground.yml"
    configured.write_text(json.dumps(WORLD), "utf-8")  # JSON is YAML
    port = free_port()
    arguments = ["start", "-e", endpoint, "-c", "msteams", "-p", str(port), "--disable-telemetry"]
    with (folder / "playground.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            node, str(cli), *arguments, cwd=folder, stdout=log, stderr=subprocess.STDOUT,
            env=os.environ | {"BROWSER": "none", "M365_AGENTS_PLAYGROUND_CONFIG_PATH": str(configured)},
        )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        async with ClientSession(timeout=ClientTimeout(total=60)) as session:
            client = Playground(url, session, await _config(session, url, process))
            path = "/_ws_conversation/v1/conversations/stream"
            async with session.ws_connect(url + path) as socket:
                listening = asyncio.create_task(_listen(socket, client.events))
                yield client
                listening.cancel()
                await asyncio.wait([listening])
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


async def _listen(socket: Any, events: list[Json]) -> None:
    async for message in socket:
        events.append(json.loads(message.data))


async def _config(session: ClientSession, url: str, process: asyncio.subprocess.Process) -> Json:
    for _ in range(300):
        if process.returncode is not None:
            break
        with suppress(ClientError):
            async with session.get(f"{url}/_internal/v1/config") as answer:
                return (await answer.json())["config"]
        await asyncio.sleep(0.1)
    raise RuntimeError("The Playground did not start.")
