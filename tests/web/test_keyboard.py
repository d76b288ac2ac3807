"""Everything without a mouse."""

from __future__ import annotations

from playwright.async_api import BrowserContext, Page, expect

from tests.web.site import POLICY, Site, ask, browser_tests, opened, upload

pytestmark = browser_tests

_FOCUSED = """() => {
    const at = document.activeElement;
    if (at === document.body) return "";
    return at.ariaLabel || at.labels?.[0]?.innerText || at.innerText || at.id;
}"""


async def tab(page: Page, times: int = 1, *, back: bool = False) -> list[str]:
    """What gets the focus, one name a press."""
    names: list[str] = []
    for _ in range(times):
        await page.keyboard.press("Shift+Tab" if back else "Tab")
        names.append(" ".join(str(await page.evaluate(_FOCUSED)).split()))
    return names


async def test_the_order_follows_the_page_and_the_focus_is_visible(
    handbook: Site, context: BrowserContext
) -> None:
    page = await opened(context, handbook)
    await ask(page, "When may premium economy be booked?")
    await expect(page.get_by_role("article", name="Answer with 1 source")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("article", name="Answer with 1 source")).to_be_visible()
    assert await tab(page, 17) == [
        "Skip to content", "Footnote", "Chat", "Documents", "Search test", "Settings", "New thread",
        "When may premium economy be booked?", "Source 1", "Travel policy", "👍 Helpful", "👎 Not helpful",
        "Why this answer?", "Preview", "Copy", "Your question", "Ask",
    ]  # fmt: skip
    await tab(page, 2, back=True)
    outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


async def test_from_upload_to_source_with_keys_alone(site: Site, context: BrowserContext) -> None:
    page = await opened(context, site, "documents")
    await expect(page.get_by_text("No documents yet.")).to_be_visible()
    assert (await tab(page, 8))[-1] == "choose files"
    await upload(page, POLICY)

    await page.locator("[data-key^=Delete]").focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_be_visible()
    inside = await tab(page, 6)
    assert set(inside) <= {"Close", "Cancel", "Delete", ""}  # the page behind it is out of reach
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_role("button", name="Delete of travel-policy.pdf")).to_be_focused()
    await expect(page.get_by_role("row", name="Travel policy")).to_be_visible()

    await page.get_by_role("link", name="Chat").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Your question")).to_be_focused()
    await page.keyboard.type("When may premium economy")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("be booked?")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("article", name="Answer with 1 source")).to_contain_text("six hours")
    await expect(page.get_by_label("Your question")).to_be_focused()
    assert (await tab(page, 7, back=True))[-1] == "Source 1"
    async with context.expect_page() as opening:
        await page.keyboard.press("Enter")
    await expect((await opening.value).locator("#mark")).to_be_visible()
