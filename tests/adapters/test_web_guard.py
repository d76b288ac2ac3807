"""Who may speak to the page, and what every response says."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.web.guard import HEADERS, is_loopback
from tests.adapters.fake_bot import FakeBot, page_of


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"])
def test_names_of_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "", "0.0.0.0", "evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "10.0.0.1",
        "2130706433", "[::]",
    ],
)  # fmt: skip
def test_names_of_other_machines(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.nip.io", "[",
        "a@127.0.0.1@b",
    ],
)  # fmt: skip
async def test_another_name_for_this_machine_opens_nothing(tmp_path: Path, host: str) -> None:
    """DNS rebinding: a stranger's name that now leads here."""
    bot = FakeBot()
    async with page_of(bot, tmp_path) as page:
        for path in ("/", "/api/documents", "/api/settings", "/api/search?q=x"):
            assert (await page.get(path, headers={"Host": host})).status in (400, 421)
        assert (await page.delete("/api/documents/d1", headers={"Host": host})).status in (400, 421)
    assert not bot.calls


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "something new"},
        {"Origin": "null"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://["},
        {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"},
    ],
)
async def test_requests_of_other_sites_change_and_read_nothing(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    bot = FakeBot()
    async with page_of(bot, tmp_path) as page:
        assert (await page.post("/api/documents", data=b"x", headers=headers)).status == 403
        assert (await page.post("/api/documents/cancel", json={"ids": []}, headers=headers)).status == 403
        assert (await page.delete("/api/documents/d1", headers=headers)).status == 403
        assert (await page.get("/api/documents", headers=headers)).status == 403
        assert (await page.get("/", headers=headers)).status == 200  # a link may lead here
    assert not bot.calls


async def test_the_page_itself_and_programs_may(tmp_path: Path) -> None:
    async with page_of(FakeBot(), tmp_path) as page:
        own = f"http://{page.host}:{page.port}"
        for headers in ({}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin", "Origin": own}):
            deleted = await page.delete("/api/documents/d1", headers=headers)
            assert deleted.status == 200


async def test_every_response_has_the_security_headers(tmp_path: Path) -> None:
    async with page_of(FakeBot(), tmp_path) as page:
        responses = [
            await page.get("/"),
            await page.get("/assets/app.js"),
            await page.get("/nowhere"),
            await page.get("/source/token"),
            await page.get("/api/documents", headers={"Host": "evil.example"}),
            await page.post("/api/documents/progress", json={"ids": ["v1"]}),
            await page.post("/api/documents/cancel", data=b"?"),
        ]
        for response in responses:
            assert {name: response.headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


async def test_without_a_workspace_only_source_views_are_served(tmp_path: Path) -> None:
    """A server on the open net has no chat page, whatever name it is called by."""
    async with page_of(FakeBot(), tmp_path, workspace=None) as page:
        for path in ("/", "/api/documents", "/api/settings"):
            assert (await page.get(path)).status == 404
        headers = {"Host": "kb.example.com"}
        assert (await page.get("/source/token", headers=headers)).status == 410
        assert (await page.get("/assets/source.css", headers=headers)).status == 200
