"""The main conversation against a Slack that others wrote (the npm package `emulate`), with the whole bot:
a mention posted by a person, a signed event in, an answer with its sources read back from the thread; a
file uploaded, downloaded with the bot's token, and indexed.

The emulator sends no `app_mention`, knows no streams and no interactions; those are for the strict double.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from adapters.ports import Bot
from adapters.slack.app import SlackAdapter
from adapters.slack.settings import SlackSettings
from bot.app import App, open_app
from bot.config import Config

ROOT = Path(__file__).parents[3]
SECRET = "emulated-signing-secret"
KEYS = "# API keys\n\nChange your API key every 90 days, under Settings > Security > Keys.\n"

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed"),
    pytest.mark.skipif(not (ROOT / "node_modules" / "emulate").is_dir(), reason="npm ci was not run"),
    pytest.mark.xdist_group("app"),
]


@dataclass
class Emulated:
    facts: dict[str, str]
    #: As a person, with that person's token.
    person: AsyncWebClient
    app: App

    async def thread(self, ts: str) -> list[dict[str, Any]]:
        found = await self.person.conversations_replies(channel=self.facts["channel"], ts=ts)
        return cast("list[dict[str, Any]]", found["messages"])

    async def replies(self, ts: str, wanted: str) -> list[dict[str, Any]]:
        """The bot's messages in a thread, once `wanted` stands in one of them."""
        async with asyncio.timeout(60):
            while True:
                own = [m for m in await self.thread(ts) if m["user"] == self.facts["user"]]
                if any(wanted in json.dumps(m, ensure_ascii=False) for m in own):
                    return own
                await asyncio.sleep(0.1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
async def emulated(
    tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Emulated]:
    monkeypatch.chdir(tmp_path)
    port = free_port()
    node = await asyncio.create_subprocess_exec(
        "node",
        str(ROOT / "tests" / "peers" / "slack.mjs"),
        env=os.environ
        | {
            "EVENTS_URL": f"http://127.0.0.1:{port}/slack/events",
            "SIGNING_SECRET": SECRET,
            "EMULATOR_PORT": str(free_port()),
        },
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert node.stdout is not None
        facts = json.loads(await asyncio.wait_for(node.stdout.readline(), 30))
        api_url = f"{facts['url']}/api/"
        config = Config(data_dir=tmp_path / "data", model_cache_dir=models)
        async with open_app(config) as app:
            settings = SlackSettings(bot_token=facts["token"], signing_secret=SECRET, api_url=api_url)
            adapter = SlackAdapter(cast("Bot", app), settings, spool=app.spool)
            application = web.Application()
            application.add_routes(adapter.routes())
            runner = web.AppRunner(application, access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", port).start()
            try:
                async with adapter.running():
                    yield Emulated(facts, AsyncWebClient("xoxp-dev", base_url=api_url), app)
            finally:
                await runner.cleanup()
    finally:
        node.kill()
        await node.wait()


async def test_a_document_is_shared_and_a_question_about_it_answered(emulated: Emulated) -> None:
    facts, person = emulated.facts, emulated.person
    channel, mention = facts["channel"], f"<@{facts['user']}>"
    await AsyncWebClient(facts["token"], base_url=person.base_url).conversations_join(channel=channel)

    # A file with a mention and no other word is a document to be added.
    await person.files_upload_v2(
        channel=channel, filename="keys.md", content=KEYS, initial_comment=mention, title="keys.md"
    )
    history = await person.conversations_history(channel=channel)
    shared = next(m for m in cast("list[dict[str, Any]]", history["messages"]) if m.get("files"))
    (progress,) = await emulated.replies(shared["ts"], "keys.md: done")
    assert "keys.md" in json.dumps(progress)

    asked = await person.chat_postMessage(channel=channel, text=f"{mention} How often do keys change?")
    (reply,) = await emulated.replies(str(asked["ts"]), "every 90 days")
    assert reply["text"].startswith("Change your API key every 90 days")
    blocks = json.dumps(reply["blocks"], ensure_ascii=False)
    assert "Sources" in blocks
    assert "1. " in blocks
    assert "API keys" in blocks
    assert len(await emulated.thread(str(asked["ts"]))) == 2
