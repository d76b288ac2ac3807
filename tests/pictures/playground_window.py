"""The window of Microsoft's Agents Playground, used as a person does."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from playwright.async_api import Page, TimeoutError, async_playwright

#: Milliseconds: the machine may be busy.
_PATIENCE: Final = 30_000
_SIZE: Final = {"width": 1100, "height": 800}
_HIDE: Final = "all => all.forEach(one => one.parentElement.parentElement.style.visibility = 'hidden')"
#: Height of the Playground's own bar; milliseconds until what fades in is there.
_BAR, _CALM = 50, 600


class Window:
    def __init__(self, page: Page) -> None:
        self.page = page

    async def go(self, name: str) -> None:
        """To a chat or a channel, by the beginning of its name in the list at the left, which is folded
        away in a window of this width."""
        await self.page.get_by_role("treeitem", name=name).dispatch_event("click")
        await self.page.get_by_role("textbox").first.wait_for()

    async def write(self, text: str, *, mention: str = "", box: int = 0, post: bool = False) -> None:
        """Type and send; `box` is the number of the text box from the top."""
        await self.page.get_by_role("textbox").nth(box).click()
        keyboard = self.page.keyboard
        if mention:
            await keyboard.type("@")
            await self.page.get_by_role("menuitem", name=mention).click()
            await keyboard.type(" ")
        await keyboard.type(text)
        if post:
            await self.page.get_by_role("button", name="Post", exact=True).click()
        else:
            await keyboard.press("Enter")

    async def see(self, words: str) -> None:
        """Wait until the window says that."""
        try:
            await self.page.get_by_text(words).last.wait_for()
        except TimeoutError:
            raise AssertionError(f"The window does not say “{words}”.") from None

    async def source(self) -> str:
        """What the last number in an answer shows under the mouse."""
        before = await self.page.get_by_role("button").count()
        await self.page.locator("a[role=button]").last.hover()
        shown = self.page.get_by_role("button").nth(before)
        await shown.wait_for()
        return await shown.inner_text()

    async def thumb_down(self, words: str) -> None:
        """Under the last answer, with what was wrong; up to the thanks."""
        await self.page.get_by_role("button", name="Dislike").first.click()
        await self.page.get_by_role("dialog").locator("textarea").fill(words)
        await self.page.get_by_role("button", name="Submit").click()
        await self.see("We appreciate your feedback.")
        await self.page.get_by_role("dialog").get_by_role("button", name="Close").last.click()

    async def press(self, title: str) -> None:
        """The last button of that name."""
        await self.page.get_by_role("button", name=title, exact=True).last.click()

    async def picture(self, path: Path, *, height: int = _SIZE["height"], still: bool = False) -> None:
        """Of what is under the Playground's own bar, without its remarks on what Teams alone can do.

        Args:
            still: leave the mouse, and what it shows, where it is.
        """
        page = self.page
        if not still:
            await page.mouse.move(1, 1)
        await page.set_viewport_size({"width": _SIZE["width"], "height": height})
        remarks = page.get_by_text("is not supported yet in Microsoft 365 Agents playground")
        await remarks.evaluate_all(_HIDE)
        await page.wait_for_timeout(_CALM)
        clip = {"x": 0, "y": _BAR, "width": _SIZE["width"], "height": height - _BAR}
        await page.screenshot(path=path, clip=clip)  # pyright: ignore[reportArgumentType]
        await page.set_viewport_size(_SIZE)  # pyright: ignore[reportArgumentType]


@asynccontextmanager
async def window(url: str) -> AsyncGenerator[Window]:
    """With the log put away."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = await browser.new_page(viewport=_SIZE, color_scheme="light")  # pyright: ignore[reportArgumentType]
        page.set_default_timeout(_PATIENCE)
        await page.goto(url)
        await page.get_by_title("Hide log panel").click()
        yield Window(page)
        await browser.close()
