from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, async_playwright

from adapters.ports import Answers
from bot.app import App, open_app
from bot.config import Config
from tests.web.site import ARGUMENTS, CHROMIUM, HANDBOOK, Site, SlowAnswers, served, watched_context


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[App]:
    config = Config.model_validate({"data_dir": tmp_path_factory.mktemp("web"), "port": 0})
    async with open_app(config) as app:
        app.answers = cast("Answers", SlowAnswers(app.answers))
        yield app


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def handbook(app: App) -> AsyncGenerator[Site]:
    """A site that tests only read, with a few documents of the handbook."""
    names = ("keys.md", "travel-policy.pdf", "expenses.xlsx", "rotate_keys.py", "all-hands-q3.pptx")
    async with served(app, "handbook") as site:
        await site.add(*(HANDBOOK / name for name in names))
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def site(app: App) -> AsyncGenerator[Site]:
    """A site of the test's own, empty."""
    async with served(app, f"w{uuid.uuid4().hex[:12]}") as site:
        yield site


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser, request: pytest.FixtureRequest) -> AsyncGenerator[BrowserContext]:
    options: dict[str, Any] = getattr(request, "param", {})
    async with watched_context(browser, **options) as context:
        yield context


@pytest.fixture
def slow(app: App) -> SlowAnswers:
    return cast("SlowAnswers", app.answers)
