"""What the browser tests stand on: the real bot on its embedded stores, served to a real Chromium."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.async_api import Browser, BrowserContext, Locator, Page, expect

from adapters.conversation import Delta, ReplyEvent, Turn, Working
from adapters.ports import Actor, Answers, UploadOptions
from adapters.web.context import LOCAL_PERSON
from bot.app import App
from bot.config import Config
from bot.connect import local_actor
from bot.demo import files_in, handbook
from bot.serve import serving

HANDBOOK = handbook()
POLICY = HANDBOOK / "travel-policy.pdf"


def find_chromium() -> str | None:
    told = os.environ.get("CHROMIUM")
    return told or shutil.which("chromium") or shutil.which("chromium-browser")


CHROMIUM = find_chromium()
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip

#: All tests with a browser share one bot and one browser, so one process runs them.
browser_tests = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (set CHROMIUM to its path)"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="session"),
]


@dataclass
class SlowAnswers:
    """The bot's answers, but a question that begins with "slowly" is answered up to a beginning and then
    waits for `go_on` or for its end."""

    real: Answers
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    async def answer(self, turn: Turn) -> AsyncIterator[ReplyEvent]:
        if not turn.text.startswith("slowly"):
            async for event in self.real.answer(turn):
                yield event
            return
        self.go_on.clear()
        self.closed.clear()
        yield Working(kind="writing", text="Writing")
        yield Delta(text="This is **only** the beginning")
        try:
            await self.go_on.wait()
        finally:
            self.closed.set()
        plain = turn.model_copy(update={"text": turn.text.removeprefix("slowly")})
        async for event in self.real.answer(plain):
            yield event


@dataclass
class Site:
    """A workspace of its own, served at an address of its own."""

    app: App
    address: str
    workspace: str

    @property
    def actor(self) -> Actor:
        actor = local_actor(self.workspace)
        return actor.model_copy(update={"person": LOCAL_PERSON})

    async def add(self, *paths: Path) -> None:
        """Documents, without the page."""
        accepted = await self.app.documents.upload(self.actor, files_in(paths), UploadOptions())
        updates = self.app.documents.watch(self.actor, [item.version_id for item in accepted.items])
        async with aclosing(cast("AsyncGenerator[Any]", updates)):
            async for progress in updates:
                if progress.finished:
                    assert {item.stage for item in progress.items} == {"done"}, progress


@asynccontextmanager
async def served(app: App, workspace: str) -> AsyncGenerator[Site]:
    await app.workspaces.of("web", workspace)
    config = Config.model_validate({"port": 0})
    async with serving(app, config, workspace=workspace) as address:
        yield Site(app, address, workspace)


@asynccontextmanager
async def watched_context(browser: Browser, **options: Any) -> AsyncGenerator[BrowserContext]:
    """A browser without a history. What its pages complain about (errors, violations of the content
    security policy) fails the test, unless it is about a request that was meant to fail."""
    usual: dict[str, Any] = {"viewport": {"width": 1200, "height": 800}}
    context = await browser.new_context(**(usual | options))
    context.set_default_timeout(15_000)
    complaints: list[str] = []
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on(
        "console",
        lambda message: (
            complaints.append(message.text)
            if message.type == "error" and "Failed to load resource" not in message.text
            else None
        ),
    )
    try:
        yield context
        assert not complaints
    finally:
        await context.close()


async def opened(context: BrowserContext, site: Site, view: str = "chat") -> Page:
    page = await context.new_page()
    await page.goto(f"{site.address}/#/{view}")
    return page


async def ask(page: Page, question: str) -> None:
    """Type a question, as soon as none is being answered."""
    await expect(page.locator("#send")).to_be_visible()
    await page.get_by_label("Your question").fill(question)
    await page.keyboard.press("Enter")


async def upload(page: Page, *paths: Path) -> None:
    """Choose files and wait until the page says that all are done."""
    await page.locator("#files").set_input_files(paths)
    done = f"{len(paths)} of {len(paths)} document{'s' * (len(paths) > 1)} done."
    await expect(page.locator("#upload-status")).to_have_text(done, timeout=60_000)


async def follow_mark(context: BrowserContext, answer: Locator) -> Page:
    """Click the first mark of an answer; the source view that it opens."""
    async with context.expect_page() as opening:
        await answer.locator("a.cite").first.click()
    source = await opening.value
    await source.wait_for_load_state()
    return source
