"""Files from Slack: what is fetched, with which token from where, and what is refused in which words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from adapters.conversation import UploadedFile
from adapters.download import allowed
from adapters.ports import Refused
from adapters.slack.files import download
from adapters.slack.hosts import HOSTS
from tests.adapters.slack.places import bundle, installed_in
from tests.adapters.slack.site import World
from tests.doubles.slack import SlackDouble
from tests.doubles.slack.faults import Breaks, Fails
from tests.doubles.slack.world import File

Get = Callable[..., Awaitable[UploadedFile]]
Serve = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.download._PAUSES", (0.0, 0.0, 0.0))


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    made = tmp_path / "spool"
    made.mkdir()
    return made


@pytest.fixture
def get(slack: SlackDouble, world: World, spool: Path) -> Get:
    async def get(file: str, **more: Any) -> UploadedFile:
        installed = installed_in(slack, world.team.id)
        return await download(bundle(slack, spool), installed, {"id": file}, spool, **more)

    return get


def serve(slack: SlackDouble, monkeypatch: pytest.MonkeyPatch, answer: Serve) -> None:
    """Downloads are answered like this."""
    monkeypatch.setattr(slack.downloads, "serve", answer)


def shown_as(slack: SlackDouble, monkeypatch: pytest.MonkeyPatch, **facts: Any) -> None:
    """`files.info` tells other facts of each file."""
    before = slack.payloads.file

    def file(file: File, *, event: bool = False) -> dict[str, Any]:
        return before(file, event=event) | facts

    monkeypatch.setattr(slack.payloads, "file", file)


def kept(spool: Path) -> list[Path]:
    return list(spool.iterdir())


async def test_a_file_is_brought_here(slack: SlackDouble, world: World, get: Get, spool: Path) -> None:
    made = slack.world.add_file("keys.pdf", b"%PDF" * 200_000, user=world.ann, mimetype="application/pdf")
    file = await get(made.id)
    assert (file.name, file.size, file.media_type) == ("keys.pdf", 800_000, "application/pdf")
    assert file.path.read_bytes() == made.content
    assert file.path.parent == spool
    assert "keys" not in file.path.name
    assert file.permalink == f"https://example.slack.com/files/{world.ann}/{made.id}"
    assert slack.downloads.asked == [(f"/files-pri/T0001-{made.id}/download/keys.pdf", True)]


async def test_a_file_of_another_organisation_is_asked_for(
    slack: SlackDouble, world: World, get: Get
) -> None:
    slack.world.add_team("T0002", installed=False)
    other = slack.world.add_user("zoe", team="T0002")
    made = slack.world.add_file("plan.txt", "Plan", user=other.id, connect=True)
    assert (await get(made.id)).path.read_bytes() == b"Plan"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("../../etc/passwd", "etc passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("a\x00b\nc.txt", "a b c.txt"),
        ("gpj\u202eexe.txt", "gpj exe.txt"),
        ("", "file"),
        ("...", "file"),
        ("x" * 500 + ".pdf", "x" * 180 + ".pdf"),
    ],
)
async def test_names_are_harmless(
    slack: SlackDouble, world: World, get: Get, spool: Path, monkeypatch: pytest.MonkeyPatch,
    given: str, name: str,
) -> None:  # fmt: skip
    made = slack.world.add_file("f.txt", "text", user=world.ann)
    shown_as(slack, monkeypatch, name=given, title=given)
    file = await get(made.id)
    assert file.name == name
    assert kept(spool) == [file.path]


async def test_a_snippet_is_a_text_file(
    slack: SlackDouble, world: World, get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = slack.world.add_file("f", "a = 1", user=world.ann)
    shown_as(slack, monkeypatch, mode="snippet", name="Untitled")
    file = await get(made.id)
    assert (file.name, file.path.read_text()) == ("Untitled.txt", "a = 1")


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"mode": "external", "external_type": "gdrive"}, "link to another service"),
        ({"mode": "quip"}, "canvas"),
        ({"mode": "hosted", "filetype": "canvas"}, "canvas"),
        ({"mode": "list"}, "list"),
        ({"mode": "post"}, "post"),
        ({"mode": "email"}, "e-mail"),
        ({"mode": "tombstone"}, "deleted"),
        ({"mode": "hidden_by_limit"}, "plan"),
        ({"file_access": "access_denied"}, "does not let me see it"),
        ({"url_private": None, "url_private_download": None}, "no address"),
    ],
)
async def test_what_is_no_file_is_said_to_be_none(
    slack: SlackDouble, world: World, get: Get, monkeypatch: pytest.MonkeyPatch, facts: Any, words: str
) -> None:
    made = slack.world.add_file("f.txt", "text", user=world.ann)
    shown_as(slack, monkeypatch, **facts)
    with pytest.raises(Refused, match=words):
        await get(made.id)
    assert slack.downloads.asked == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fails("missing_scope"), "files:read"),
        (Fails("token_revoked"), "install me again"),
        (Fails("file_not_found"), "not there"),
        (Fails("file_deleted"), "not there"),
        (Breaks(), "just now"),
    ],
    ids=str,
)
async def test_files_that_slack_does_not_tell_about(
    slack: SlackDouble, world: World, get: Get, fault: Any, words: str
) -> None:
    made = slack.world.add_file("f.txt", "text", user=world.ann)
    slack.faults.next("files.info", fault, times=10)
    with pytest.raises(Refused, match=words):
        await get(made.id)


async def test_a_file_that_is_deleted_meanwhile(
    slack: SlackDouble, world: World, get: Get, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = slack.world.add_file("f.txt", "text", user=world.ann)
    before = slack.downloads.serve

    async def gone(request: web.BaseRequest) -> web.StreamResponse:
        made.deleted = True
        return await before(request)

    serve(slack, monkeypatch, gone)
    with pytest.raises(Refused, match="deleted meanwhile"):
        await get(made.id)
    assert kept(spool) == []


@pytest.mark.parametrize("mimetype", ["application/pdf", "text/plain", "text/html"])
@pytest.mark.parametrize("at_once", [True, False])
async def test_a_login_page_is_no_file(
    slack: SlackDouble, world: World, get: Get, spool: Path, monkeypatch: pytest.MonkeyPatch,
    mimetype: str, at_once: bool,
) -> None:  # fmt: skip
    made = slack.world.add_file("f.bin", "text", user=world.ann, mimetype=mimetype)
    slack.downloads.login_at_once = at_once
    # The right is taken away between the two calls.
    before = slack.downloads.serve

    async def without(request: web.BaseRequest) -> web.StreamResponse:
        slack.world.tokens["xoxb-T0001"].revoked = True
        return await before(request)

    serve(slack, monkeypatch, without)
    with pytest.raises(Refused, match="login"):
        await get(made.id)
    assert kept(spool) == []


async def test_a_page_that_somebody_uploaded_is_a_file(slack: SlackDouble, world: World, get: Get) -> None:
    made = slack.world.add_file("a.html", "<html>Keys</html>", user=world.ann, mimetype="text/html")
    assert (await get(made.id)).path.read_bytes() == made.content


async def test_redirects_are_followed_five_times(slack: SlackDouble, world: World, get: Get) -> None:
    made = slack.world.add_file("f.txt", "text", user=world.ann)
    slack.downloads.redirects = 5
    assert (await get(made.id)).size == 4
    slack.downloads.redirects = 6
    with pytest.raises(Refused, match="circles"):
        await get(made.id)


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/f",
        "https://slack.com.evil.example/f",
        "https://evilslack.com/f",
        "http://files.slack.com/f",
        "https://slack.com@evil.example/f",
        "https://me:pw@files.slack.com/f",
        "//evil.example/f",
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:1/f",
        "http://[::1]/f",
        "http://localhost/f",
        "https://[bad",
        "https://files.slack.com:99999/f",
        "file:///etc/passwd",
        "ftp://files.slack.com/f",
        "gopher:x",
        "https://evil.example\\@files.slack.com/f",
    ],
)
async def test_nobody_else_is_asked(
    slack: SlackDouble, world: World, get: Get, spool: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """Neither at first nor by a redirect: not another host, not this machine, not its network."""
    made = slack.world.add_file("f.txt", "text", user=world.ann)
    slack.downloads.redirect_to = address
    with pytest.raises(Refused, match="does not lie on Slack"):
        await get(made.id)
    assert len(slack.downloads.asked) == 1
    shown_as(slack, monkeypatch, url_private_download=address)
    with pytest.raises(Refused, match="does not lie on Slack"):
        await get(made.id)
    assert len(slack.downloads.asked) == 1
    assert kept(spool) == []


@pytest.mark.parametrize(
    ("address", "fine"),
    [
        ("https://files.slack.com/x", True),
        ("https://FILES.SLACK.COM/x", True),
        ("https://slack-files.com/x", True),
        ("https://a.slack-edge.com/x", True),
        ("https://files.slack.com.:443/x", False),
        ("http://proxy.internal:8080/x", True),
        ("http://proxy.internal/x", False),
        ("https://proxy.internal:8080/x", False),
    ],
)
def test_which_hosts_get_the_token(address: str, fine: bool) -> None:
    assert allowed(URL(address), HOSTS, ("http://proxy.internal:8080/api/",)) == fine


async def test_too_large_is_told_before_anything_is_fetched(
    slack: SlackDouble, world: World, get: Get
) -> None:
    made = slack.world.add_file("f.txt", b"x" * 101, user=world.ann)
    with pytest.raises(Refused, match="too large: at most 100 bytes"):
        await get(made.id, max_bytes=100)
    assert slack.downloads.asked == []


@pytest.mark.parametrize("tell", [True, False])
async def test_a_size_that_is_not_true_does_not_help(
    slack: SlackDouble, world: World, get: Get, spool: Path, monkeypatch: pytest.MonkeyPatch, tell: bool
) -> None:
    """`files.info` says small; the length is told, or the stream just does not end."""
    made = slack.world.add_file("f.txt", b"x" * 3_000_000, user=world.ann)
    shown_as(slack, monkeypatch, size=7)
    sent = 0

    async def endless(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        if tell:
            response.content_length = 3_000_000
        await response.prepare(request)
        for _ in range(30):
            await response.write(b"x" * 100_000)
            sent += 1
        return response

    serve(slack, monkeypatch, endless)
    with pytest.raises(Refused, match="too large: at most 1 MB"):
        await get(made.id, max_bytes=1 << 20)
    assert kept(spool) == []


async def test_a_download_is_tried_again(
    slack: SlackDouble, world: World, get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = slack.world.add_file("f.txt", "text", user=world.ann)
    before = slack.downloads.serve
    bad = [503, 429, "cut"]

    async def spoiled(request: web.BaseRequest) -> web.StreamResponse:
        if not bad:
            slack.downloads.cut_after = None
            return await before(request)
        if (fault := bad.pop(0)) == "cut":
            slack.downloads.cut_after = 2
            return await before(request)
        return web.Response(status=int(fault), headers={"Retry-After": "0"})

    serve(slack, monkeypatch, spoiled)
    assert (await get(made.id)).path.read_bytes() == b"text"


@pytest.mark.parametrize(("headers", "tries"), [({}, 4), ({"Retry-After": "600"}, 1)])
async def test_a_download_is_given_up_in_the_end(
    slack: SlackDouble, world: World, get: Get, monkeypatch: pytest.MonkeyPatch, headers: Any, tries: int
) -> None:
    made = slack.world.add_file("f.txt", "text", user=world.ann)
    asked: list[str] = []

    async def busy(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(request.path)
        return web.Response(status=429, headers=headers)

    serve(slack, monkeypatch, busy)
    with pytest.raises(Refused, match="just now"):
        await get(made.id)
    assert len(asked) == tries


async def test_one_who_goes_away_leaves_nothing_behind(
    slack: SlackDouble, world: World, get: Get, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = slack.world.add_file("f.txt", "text", user=world.ann)
    begun, never = asyncio.Event(), asyncio.Event()

    async def slow(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"te")
        begun.set()
        await never.wait()
        return response

    serve(slack, monkeypatch, slow)
    task = asyncio.ensure_future(get(made.id))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert kept(spool) == []


async def test_a_full_disk_is_told(slack: SlackDouble, world: World, get: Get, spool: Path) -> None:
    made = slack.world.add_file("f.txt", "text", user=world.ann)
    await asyncio.to_thread(spool.rmdir)
    with pytest.raises(Refused, match="whoever runs this server"):
        await get(made.id)
