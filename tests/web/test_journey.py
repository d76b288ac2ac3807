"""What a person does first: add a document, ask, follow up, look at the source."""

from __future__ import annotations

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.data import DATA, needs_data
from tests.web.site import POLICY, Site, ask, browser_tests, follow_mark, opened, upload

pytestmark = browser_tests


async def test_from_a_document_to_the_marked_page(site: Site, context: BrowserContext) -> None:
    page = await opened(context, site)
    await page.get_by_role("link", name="Add documents").click()
    await page.get_by_label("Labels", exact=True).fill("Travel")
    await upload(page, POLICY)
    row = page.get_by_role("row", name="Travel policy")
    await expect(row.get_by_role("cell", name="travel", exact=True)).to_be_visible()

    await page.get_by_role("link", name="Chat").click()
    await ask(page, "When may premium economy be booked?")
    answer = page.get_by_role("article").last
    await expect(answer).to_contain_text("six hours or more")
    source = await follow_mark(context, answer)
    await expect(source.get_by_role("heading", level=1)).to_have_text("Travel policy")
    await expect(source.locator("#mark")).to_contain_text("six hours or more")
    await expect_marks_on(source, 1)

    await ask(page, "And what is the daily allowance in Japan?")
    await expect(page.get_by_role("article")).to_have_count(2)
    second = page.get_by_role("article").last
    await expect(second).to_contain_text("50 EUR")
    source = await follow_mark(context, second)
    await expect(source.get_by_role("row").first).to_contain_text("Country")  # a table, not its signs
    await expect_marks_on(source, 2)


async def expect_marks_on(source: Page, number: int) -> None:
    """The page of that number is drawn, and something on it is marked."""
    image = source.get_by_role("img", name=f"Page {number} of")
    assert await image.evaluate("image => image.decode().then(() => image.naturalWidth)") >= 1400
    sheet = await image.bounding_box()
    marks = await source.locator("svg rect").all()
    assert sheet
    assert marks
    for mark in marks:
        box = await mark.bounding_box()
        assert box
        assert sheet["x"] <= box["x"] < box["x"] + box["width"] <= sheet["x"] + sheet["width"] + 1
        assert sheet["y"] <= box["y"] < box["y"] + box["height"] <= sheet["y"] + sheet["height"] + 1


@needs_data
@pytest.mark.data
async def test_a_real_pdf_opens_at_the_page_of_the_answer(site: Site, context: BrowserContext) -> None:
    assert DATA
    await site.add(DATA / "documents" / "files" / "redp5110_sampled.pdf")
    page = await opened(context, site)
    await ask(page, "What is row permission in DB2 for i?")
    source = await follow_mark(context, page.get_by_role("article").last)
    view = source.get_by_role("img", name="Page")
    number = int(((await view.get_attribute("alt")) or "").split()[1])
    assert number > 1
    await expect_marks_on(source, number)
