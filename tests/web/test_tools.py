"""Search test and settings."""

from __future__ import annotations

import re

from playwright.async_api import BrowserContext, expect

from tests.web.site import Site, browser_tests, opened

pytestmark = browser_tests


async def test_search_shows_each_kind_side_by_side(handbook: Site, context: BrowserContext) -> None:
    page = await opened(context, handbook, "search")
    await page.get_by_label("Search for").fill("hotel limit in:nowhere")
    await page.keyboard.press("Enter")
    await expect(page.locator("#search-status")).to_contain_text("nowhere")
    await page.get_by_label("Search for").fill("hotel limit")
    await page.keyboard.press("Enter")
    for kind in ("Hybrid", "Semantic", "Keyword"):
        first = page.get_by_role("region", name=kind).get_by_role("listitem").first
        await expect(first).to_contain_text(re.compile(r"score [01]\.[0-9]{4}"))
        await expect(first).not_to_contain_text("|")
    async with context.expect_page() as opening:
        await page.get_by_role("region", name="Keyword").get_by_role("link").first.click()
    passage = (await opening.value).get_by_role("region", name="The passage", exact=True)
    await expect(passage.get_by_role("row").first).to_contain_text("Limit (EUR)")


async def test_settings_are_saved_and_errors_stand_at_their_field(
    site: Site, context: BrowserContext
) -> None:
    page = await opened(context, site, "settings")
    handed = page.get_by_label("Passages handed to the model")
    await handed.fill("many")
    await page.get_by_label("Extra instructions").fill("Use British spelling.")
    await page.get_by_role("button", name="Save").click()
    await expect(handed).to_be_focused()
    await expect(handed).to_have_value("many")
    described = await handed.get_attribute("aria-describedby") or ""
    await expect(page.locator(f"#{described.split()[-1]}")).to_have_text("Enter a number.")
    await expect(page.locator("#settings-status")).to_have_text("Not saved: see the fields marked above.")

    await handed.fill("4")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#settings-status")).to_contain_text("Saved.")
    await page.reload()
    await expect(handed).to_have_value("4")
    await expect(page.get_by_label("Extra instructions")).to_have_value("Use British spelling.")
    assert (await site.app.settings.form(site.actor)).revision == 1


async def test_two_admins_at_once_lose_nothing(site: Site, context: BrowserContext) -> None:
    first, second = await opened(context, site, "settings"), await opened(context, site, "settings")
    await first.get_by_label("Answering style").select_option("Detailed")
    await first.get_by_label("Passages retrieved").fill("20")
    await second.get_by_label("Passages retrieved").fill("30")
    await second.get_by_label("Default labels").fill("hr")
    await first.get_by_role("button", name="Save").click()
    await expect(first.locator("#settings-status")).to_contain_text("Saved.")

    await second.get_by_role("button", name="Save").click()
    await expect(second.locator("#settings-status")).to_contain_text("Somebody else saved in between.")
    await expect(second.get_by_text("Somebody else has just set this to: 20")).to_be_visible()
    await expect(second.get_by_label("Passages retrieved")).to_have_value("30")
    await expect(second.get_by_label("Answering style")).to_have_value("detailed")
    await second.get_by_role("button", name="Save").click()
    await expect(second.locator("#settings-status")).to_contain_text("Saved.")
    form = await site.app.settings.form(site.actor)
    values = {field.name: field.value for field in form.fields}
    assert (values["length"], values["passages_retrieved"], values["default_labels"]) == (
        "detailed",
        30,
        "hr",
    )
