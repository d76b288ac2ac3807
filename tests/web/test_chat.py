"""Answers on their way: stop, look away, broken connections; and what is done with an answer."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from playwright.async_api import BrowserContext, expect

from tests.web.relay import relayed
from tests.web.site import Site, SlowAnswers, ask, browser_tests, follow_mark, opened

pytestmark = browser_tests

QUESTION = "How often do I have to change my API key?"


async def test_a_thread_opened_again_shows_its_citations(handbook: Site, context: BrowserContext) -> None:
    page = await opened(context, handbook)
    await ask(page, QUESTION)
    await expect(page.get_by_role("group", name="Sources")).to_contain_text("API keys")
    await page.reload()
    answer = page.get_by_role("article", name="Answer with 1 source")
    await expect(answer.get_by_role("group", name="Sources")).to_contain_text("every 90 days")
    source = await follow_mark(context, answer)
    await expect(source.locator("#mark")).to_contain_text("every 90 days")

    await page.get_by_role("button", name="New thread").click()
    await expect(page.get_by_role("heading", name="Ask your documents")).to_be_visible()
    await page.get_by_role("link", name=QUESTION).click()
    await expect(answer).to_be_visible()


async def test_stop_keeps_what_had_come_and_offers_to_ask_again(
    handbook: Site, context: BrowserContext, slow: SlowAnswers
) -> None:
    page = await opened(context, handbook)
    await ask(page, f"slowly {QUESTION}")
    await expect(page.get_by_text("only the beginning")).to_be_visible()
    await expect(page.get_by_role("status")).to_have_text("Writing …")
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_role("article")).to_contain_text("only the beginning Stopped here.")
    await asyncio.wait_for(slow.closed.wait(), 10)  # the work has ended too

    await page.reload()
    await expect(page.get_by_role("article")).to_contain_text("Stopped before there was an answer.")
    await page.get_by_role("button", name="Ask again").click()
    await expect(page.get_by_text("only the beginning")).to_be_visible()
    slow.go_on.set()
    await expect(page.get_by_role("article", name="Answer with 1 source")).to_be_visible()


async def test_an_answer_goes_on_while_another_thread_is_looked_at(
    handbook: Site, context: BrowserContext, slow: SlowAnswers
) -> None:
    page = await opened(context, handbook)
    await ask(page, f"slowly {QUESTION}")
    await expect(page.get_by_text("only the beginning")).to_be_visible()
    await page.get_by_role("button", name="New thread").click()
    await expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    await expect(page.get_by_text("only the beginning")).to_be_hidden()
    await page.get_by_role("link", name="slowly").click()
    await expect(page.get_by_text("only the beginning")).to_be_visible()
    await expect(page.get_by_role("button", name="Stop")).to_be_visible()
    slow.go_on.set()
    await expect(page.get_by_role("article", name="Answer with 1 source")).to_have_count(1)


async def test_a_broken_connection_is_told_and_the_question_can_be_asked_again(
    handbook: Site, context: BrowserContext, slow: SlowAnswers
) -> None:
    async with relayed(handbook.address) as relay:
        page = await opened(context, replace(handbook, address=relay.address))
        await ask(page, f"slowly {QUESTION}")
        await expect(page.get_by_text("only the beginning")).to_be_visible()
        relay.break_off()
        alert = page.get_by_role("alert")
        await expect(alert).to_have_text("The connection to Footnote broke off. Is it still running?")
        await asyncio.wait_for(slow.closed.wait(), 10)
        await page.get_by_role("button", name="Ask again").click()
        await expect(alert.last).to_have_text("Footnote can't be reached. Is it still running?")
        relay.cut = False
        slow.go_on.set()
        await page.get_by_role("button", name="Ask again").last.click()
        await expect(page.get_by_text("only the beginning")).to_have_count(2)
        slow.go_on.set()
        await expect(page.get_by_role("article", name="Answer with 1 source")).to_be_visible()


async def test_why_feedback_and_copy(handbook: Site, context: BrowserContext) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = await opened(context, handbook)
    await ask(page, QUESTION)

    why = page.get_by_role("button", name="Why this answer?")
    await why.click()
    dialog = page.get_by_role("dialog", name="Why this answer?")
    await expect(dialog.get_by_role("heading", name="Searched")).to_be_visible()
    await expect(dialog).to_contain_text(re.compile(r"\d ms"))
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(why).to_be_focused()

    helpful = page.get_by_role("button", name="👍 Helpful")
    await helpful.click()
    await expect(helpful).to_have_attribute("aria-pressed", "true")
    poor = page.get_by_role("button", name="Not helpful")
    await poor.click()
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    await expect(poor).to_have_attribute("aria-pressed", "false")
    await poor.click()
    await page.get_by_label("What was wrong?").fill("It is 60 days now.")
    await page.get_by_role("button", name="Send").click()
    await expect(poor).to_have_attribute("aria-pressed", "true")
    await expect(helpful).to_have_attribute("aria-pressed", "false")

    await page.get_by_role("button", name="Copy").click()
    await expect(page.get_by_role("status")).to_have_text("Copied.")
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert "90 days" in copied
    assert "[1] API keys" in copied
