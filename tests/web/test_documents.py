"""Documents: drop, watch, label, delete; what fails says why."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import BrowserContext, Page, expect

from tests.web.site import HANDBOOK, Site, browser_tests, opened, upload

pytestmark = browser_tests

ODD_NAMES = (
    "a; b; c=d.md",
    'the "final" report.md',
    "100%25 über uns – 東京.md",
    "<img src=x onerror=alert(1)>.md",
    f"{'long name ' * 15}.md",
)


async def drop(page: Page, files: dict[str, str]) -> None:
    """Drop files on the page, wherever on it."""
    await page.evaluate(
        """files => {
            const transfer = new DataTransfer();
            for (const [name, text] of Object.entries(files)) transfer.items.add(new File([text], name));
            const target = document.querySelector("h1:not(.hidden), #welcome");
            for (const type of ["dragenter", "dragover", "drop"]) {
                const event = { dataTransfer: transfer, bubbles: true, cancelable: true };
                target.dispatchEvent(new DragEvent(type, event));
            }
        }""",
        files,
    )


async def test_many_dropped_files_with_odd_names_are_all_taken(site: Site, context: BrowserContext) -> None:
    page = await opened(context, site)
    names = [*ODD_NAMES, *(f"note {number}.md" for number in range(15))]
    await drop(page, {name: f"# Note {name!r}\n\nThe cantine closes at {name!r}." for name in names})
    await expect(page).to_have_title("Documents · Footnote")  # the drop leads there
    status = page.locator("#upload-status")
    await expect(status).to_have_text(f"{len(names)} of {len(names)} documents done.", timeout=60_000)
    rows = page.locator("#documents tbody tr")
    await expect(rows).to_have_count(len(names))
    stored = {document.name for document in await site.app.documents.list(site.actor)}
    assert stored == set(names)

    await page.get_by_label("Filter documents").fill("東京")
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Clear list").click()
    await expect(
        page.get_by_role("list", name="Documents on their way").get_by_role("listitem")
    ).to_have_count(0)


async def test_an_upload_that_fails_says_why(site: Site, context: BrowserContext, tmp_path: Path) -> None:
    broken, empty = tmp_path / "broken.pdf", tmp_path / "empty.txt"
    broken.write_bytes(b"%PDF-1.7 but no more")
    empty.touch()
    page = await opened(context, site, "documents")
    await page.locator("#files").set_input_files([broken, empty, HANDBOOK / "vpn.md"])
    status = page.locator("#upload-status")
    await expect(status).to_have_text("1 of 3 documents done. 2 failed.", timeout=60_000)
    rows = page.get_by_role("list", name="Documents on their way").get_by_role("listitem")
    for name, row in (
        ("broken.pdf", rows.filter(has_text="broken")),
        ("empty.txt", rows.filter(has_text="empty")),
    ):
        failed = row.locator("p.failed")
        await expect(failed).to_be_visible()
        assert len(await failed.inner_text()) > 10, name
    # It is still told when the page is opened anew.
    await page.reload()
    row = page.get_by_role("row", name="broken.pdf")
    await expect(row.locator(".why")).to_be_visible()
    await row.get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(row).to_have_count(0)


async def test_an_upload_that_is_refused_says_why(site: Site, context: BrowserContext) -> None:
    page = await opened(context, site, "documents")
    await page.get_by_label("Labels", exact=True).fill(",".join(map(str, range(30))))
    await page.locator("#files").set_input_files(HANDBOOK / "vpn.md")
    status = page.locator("#upload-status")
    await expect(status).to_have_text("vpn.md: not sent. Up to 20 labels of up to 60 characters each.")
    await page.wait_for_load_state("networkidle")
    await expect(status).to_contain_text("not sent")
    assert await site.app.documents.list(site.actor) == []


async def test_labels_versions_and_delete(site: Site, context: BrowserContext, tmp_path: Path) -> None:
    file = tmp_path / "vpn.md"
    file.write_text("# VPN\n\nThe gateway is vpn1.")
    page = await opened(context, site, "documents")
    await upload(page, file)
    row = page.get_by_role("row", name="VPN")
    await row.get_by_role("button", name="Labels").click()
    await page.locator("#filter").dispatch_event("input")  # the list is drawn anew behind the dialog
    await page.get_by_label("Labels, separated with commas").fill("IT, Remote  work, it")
    await page.keyboard.press("Enter")
    await expect(row.locator(".tag")).to_have_text(["it", "remote work"])
    await expect(row.get_by_role("button", name="Labels")).to_be_focused()

    file.write_text("# VPN\n\nThe gateway is vpn2.")
    await upload(page, file)
    await expect(row).to_contain_text("version 2")
    await page.get_by_label("Keep both").check()
    file.write_text("# VPN\n\nThe gateway is vpn3.")
    await upload(page, file)
    await expect(row).to_have_count(2)

    delete = row.first.get_by_role("button", name="Delete")
    await delete.click()
    dialog = page.get_by_role("dialog", name="Delete vpn.md?")
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(row).to_have_count(2)
    await expect(delete).to_be_focused()
    for left in (1, 0):
        await row.first.get_by_role("button", name="Delete").click()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(row).to_have_count(left)
    await expect(page.get_by_text("No documents yet.")).to_be_visible()
    await expect(page.get_by_role("heading", name="Documents")).to_be_focused()
    assert await site.app.documents.list(site.actor) == []
