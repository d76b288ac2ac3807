"""Strangers' pages, and documents that try to be more than text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from playwright.async_api import Browser, BrowserContext, expect

from tests.web.site import POLICY, Site, ask, browser_tests, follow_mark, opened

pytestmark = browser_tests

HOSTILE = """# Canteen <script>window.taken = 1</script>

The canteen opens at noon <img src=x onerror="window.taken=1"> and ![beacon](https://evil.example/b.png)
closes at two, see [the menu](javascript:window.taken=1) or [the site](https://canteen.example/).

| Day | Dish |
| --- | ---: |
| Monday | <b onclick="window.taken=1">Soup</b> [x](data:text/html,hi) |
"""

ATTACK = """<!doctype html><title>A stranger</title>
<form id="form" method="post" enctype="multipart/form-data" target="_blank"><input name="file"></form>
<iframe id="frame"></iframe>"""

#: What text that became markup would leave.
_ACTIVE = "main :is([onclick], [onerror], script, iframe), article [style]"

_TRIES = """async address => {
    const outcomes = [];
    const attempt = async (path, options) => {
        try {
            const response = await fetch(address + path, options);
            outcomes.push(`${path}: read ${response.type}`);
        } catch (error) { outcomes.push("refused"); }
    };
    const file = new FormData();
    file.append("file", new File(["planted"], "planted.md"));
    const turn = '{"id":"planted-turn","text":"hello"}';
    await attempt("/api/documents", { method: "POST", body: file });
    await attempt("/api/threads/planted-thread/turns", { method: "POST", body: turn });
    await attempt("/api/threads/planted-thread/turns",
        { method: "POST", body: turn, headers: { "Content-Type": "application/json" } });
    await attempt("/api/documents/DOCUMENT", { method: "DELETE" });
    await attempt("/api/documents", {});
    await attempt("/api/search?q=secret", {});
    await attempt("/api/documents", { method: "POST", mode: "no-cors", body: file });
    for (const path of ["/api/threads/planted-thread/turns", "/api/settings"]) {
        await attempt(path, { method: "POST", mode: "no-cors", body: turn });
        navigator.sendBeacon(address + path, turn);
    }
    document.getElementById("frame").src = address + "/";
    const form = document.getElementById("form");
    form.action = address + "/api/documents";
    form.submit();
    return outcomes;
}"""


@asynccontextmanager
async def stranger() -> AsyncGenerator[str]:
    """Another site, on another port of the same machine: the nearest that a stranger comes."""

    async def index(_request: web.Request) -> web.Response:
        return web.Response(text=ATTACK, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", index)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_a_strangers_page_can_neither_post_nor_read(site: Site, browser: Browser) -> None:
    await site.add(POLICY)
    before = await site.app.documents.list(site.actor)
    context = await browser.new_context()  # its console is full of refusals
    try:
        async with stranger() as address:
            page = await context.new_page()
            await page.goto(address)
            statuses: list[int] = []
            asked = asyncio.Event()

            def note(answered: object) -> None:
                asked.set()

            context.on("response", lambda r: statuses.append(r.status) if site.address in r.url else None)
            context.on("page", note)
            tries = _TRIES.replace("DOCUMENT", before[0].document_id)
            outcomes = await page.evaluate(tries, site.address)
            assert set(outcomes) == {"refused"}
            await asyncio.wait_for(asked.wait(), 10)  # the form's page
            opened_by_form = context.pages[-1]
            await expect(opened_by_form.locator("body")).to_contain_text("other sites are refused")
            frame = page.frame_locator("#frame")
            await expect(frame.get_by_label("Your question")).to_have_count(0)
            assert 403 in statuses
            assert set(statuses) <= {200, 403, 404, 405}
    finally:
        await context.close()
    assert await site.app.documents.list(site.actor) == before
    form = await site.app.settings.form(site.actor)
    assert form.revision == 0


async def test_markup_in_documents_and_questions_stays_text(
    site: Site, context: BrowserContext, tmp_path: Path
) -> None:
    file = tmp_path / "canteen.md"
    file.write_text(HOSTILE)
    await site.add(file)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = await opened(context, site)
    await ask(page, "When does the canteen open? <img src=x onerror='window.taken=1'>")
    answer = page.get_by_role("article")
    await expect(answer).to_contain_text("opens at noon")
    source = await follow_mark(context, answer)
    await expect(source.get_by_role("region", name="The passage", exact=True)).to_contain_text(
        "opens at noon"
    )
    for shown in (page, source):
        assert await shown.evaluate("window.taken === undefined")
        assert await shown.locator("main img:not([src^='/source/'])").count() == 0
        assert await shown.locator(_ACTIVE).count() == 0
        links = await shown.locator("main a[href]").evaluate_all("all => all.map(a => a.protocol)")
        assert set(links) <= {"http:", "https:"}
    assert all(url.startswith(("http://127.0.0.1:", "data:")) for url in asked), asked


async def test_the_policy_stops_script_that_got_in_all_the_same(handbook: Site, browser: Browser) -> None:
    context = await browser.new_context()
    try:
        page = await opened(context, handbook)
        await expect(page.get_by_role("button", name="What does").first).to_be_visible()
        stopped = await page.evaluate(
            """async () => {
                const violated = [];
                addEventListener("securitypolicyviolation", e => violated.push(e.effectiveDirective));
                try {
                    document.querySelector("main").innerHTML = "<img src=x onerror='window.taken = 1'>";
                } catch { violated.push("innerHTML"); }
                const script = document.createElement("script");
                try { script.text = "window.taken = 2"; } catch { violated.push("text"); }
                const element = document.createElement("img");
                element.setAttribute("src", "https://evil.example/x.png");
                document.body.append(element);
                await fetch("https://evil.example/").catch(() => violated.push("fetch"));
                await new Promise(done => setTimeout(done, 0));
                return [window.taken ?? null, violated];
            }"""
        )
        taken, violated = stopped
        assert taken is None
        assert {"innerHTML", "text", "fetch", "img-src", "connect-src"} <= set(violated)
    finally:
        await context.close()
