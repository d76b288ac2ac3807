"""An answer as Slack and Teams would show it."""

from __future__ import annotations

from playwright.async_api import BrowserContext, expect

from tests.web.site import Site, ask, browser_tests, opened

pytestmark = browser_tests


async def test_an_answer_is_shown_as_slack_and_teams_would(handbook: Site, context: BrowserContext) -> None:
    page = await opened(context, handbook)
    await ask(page, "How often do I have to change my API key?")
    button = page.get_by_role("button", name="Preview")
    await button.click()
    dialog = page.get_by_role("dialog", name="Preview")
    for name in ("Slack", "Microsoft Teams"):
        pane = dialog.get_by_role("region", name=name, exact=True)
        await expect(pane).to_contain_text("90 days")
        link = pane.get_by_role("link", name="API keys")
        await expect(link).to_have_count(1 if name == "Slack" else 0)  # Teams opens https only
        await expect(pane.locator("pre").last).to_be_hidden()
        await pane.get_by_text("JSON", exact=True).click()
        await expect(pane.locator("pre").last).to_contain_text('"type": "')
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(button).to_be_focused()
