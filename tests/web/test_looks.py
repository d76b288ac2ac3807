"""On a phone, in the dark, and for assistive technology: each view as people use it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.data import ROOT
from tests.web.site import Site, ask, browser_tests, follow_mark, opened, watched_context

pytestmark = browser_tests

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True},
}


@asynccontextmanager
async def views(
    browser: Browser, site: Site, look: str
) -> AsyncGenerator[AsyncGenerator[tuple[str, Page]]]:
    """Each view in turn, with something in it."""
    async with watched_context(browser, **LOOKS[look]) as context:
        yield _walk(context, site)


async def _walk(context: BrowserContext, site: Site) -> AsyncGenerator[tuple[str, Page]]:
    page = await opened(context, site)
    await expect(page.get_by_role("button", name="What does").first).to_be_visible()
    yield "welcome", page
    await ask(page, "What is the daily allowance in Japan?")
    await expect(page.get_by_role("article")).to_be_visible()
    await ask(page, "How does the rotate function make a new key?")
    await expect(page.get_by_role("button", name="Why this answer?")).to_have_count(2)
    yield "chat", page
    source = await follow_mark(context, page.get_by_role("article").first)
    yield "source", source
    await source.close()
    await page.get_by_role("button", name="Why this answer?").first.click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    yield "why", page
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Not helpful").first.click()
    yield "reason", page
    await page.keyboard.press("Escape")
    await page.get_by_role("link", name="Documents").click()
    await expect(page.get_by_role("row", name="Travel policy")).to_be_visible()
    yield "documents", page
    await page.get_by_role("link", name="Search test").click()
    await page.get_by_label("Search for").fill("hotel limit")
    await page.get_by_role("button", name="Search").click()
    await expect(page.get_by_role("region", name="Keyword")).to_be_visible()
    yield "search", page
    await page.get_by_role("link", name="Settings").click()
    await page.get_by_label("Passages retrieved").fill("0")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Enter a number from 1 to 50.")).to_be_visible()
    yield "settings", page


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed (npm ci)")
@pytest.mark.parametrize("look", LOOKS)
async def test_no_findings_for_assistive_technology(handbook: Site, browser: Browser, look: str) -> None:
    rules = AXE.read_text("utf-8")
    findings: list[str] = []
    async with views(browser, handbook, look) as walk:
        async for name, page in walk:
            await page.evaluate(rules)  # the policy of the page lets no other script in
            report = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            findings += [
                f"{name}: {found['id']} ({found['impact']}) {node['html'][:200]}"
                for found in report["violations"]
                for node in found["nodes"]
            ]
    assert not findings, "\n".join(findings)


async def test_nothing_is_wider_than_a_phone(handbook: Site, browser: Browser) -> None:
    wide: list[str] = []
    async with views(browser, handbook, "phone") as walk:
        async for name, page in walk:
            if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wide.append(name)
    assert not wide


async def test_threads_on_a_phone(handbook: Site, browser: Browser) -> None:
    async with watched_context(browser, **LOOKS["phone"]) as context:
        page = await opened(context, handbook)
        await ask(page, "When may premium economy be booked?")
        await expect(page.get_by_role("article")).to_be_visible()
        await page.get_by_role("button", name="New thread").click()
        await expect(page.get_by_role("article")).to_be_hidden()
        await page.get_by_role("button", name="Threads").click()
        await page.get_by_role("dialog").get_by_role("link", name="When may premium").click()
        await expect(page.get_by_role("dialog")).to_be_hidden()
        await expect(page.get_by_role("article")).to_be_visible()


async def test_the_page_is_dark_where_the_person_wants_it_dark(handbook: Site, browser: Browser) -> None:
    for look, dark in (("light", False), ("dark", True)):
        async with watched_context(browser, **LOOKS[look]) as context:
            page = await opened(context, handbook)
            colour = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
            brightness = sum(int(part) for part in colour.strip("rgb()").split(","))
            assert (brightness < 200) is dark
