"""Files from Teams: what is fetched, with which token from where, and what is refused in which words."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from adapters.conversation import UploadedFile
from adapters.download import allowed
from adapters.ports import Refused
from adapters.teams.context import Teams
from adapters.teams.errors import NoGraph, RateLimited
from adapters.teams.files import DOWNLOAD, REFERENCE, download, file_label
from adapters.teams.hosts import HOSTS, PICTURES
from adapters.teams.reference import Reference
from adapters.teams.settings import TeamsSettings

Serve = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
LINK = "https://contoso.sharepoint.com/sites/it/Docs/keys.pdf"


class Host:
    """A server that answers everything in one way, and notes who asked with which token."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.url = ""
        self.answer: Serve = self.file

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append((request.path, request.headers.get("Authorization", "")))
        return await self.answer(request)

    async def file(self, _: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=b"%PDF" * 50_000, content_type="application/octet-stream")

    def leads(self, address: str) -> None:
        async def answer(_: web.BaseRequest) -> web.StreamResponse:
            raise web.HTTPFound(address)

        self.answer = answer

    def says(
        self, status: int = 200, text: str = "<html>", kind: str = "text/html", **headers: str
    ) -> None:
        async def answer(_: web.BaseRequest) -> web.StreamResponse:
            return web.Response(status=status, text=text, content_type=kind, headers=headers)

        self.answer = answer


class Site:
    """The connector, Graph and SharePoint as three hosts."""

    def __init__(self, spool: Path) -> None:
        self.connector, self.graph, self.sharepoint = Host(), Host(), Host()
        self.spool = spool
        self.no_graph: str | None = None
        self.no_token = False

    async def headers(self) -> dict[str, str]:
        if self.no_token:
            raise RateLimited(5)
        return {"Authorization": "Bearer bot"}

    async def content(self, _: Reference, path: str) -> tuple[str, dict[str, str]]:
        if self.no_graph is not None:
            raise NoGraph(self.no_graph)
        return f"{self.graph.url}/v1.0{path}", {"Authorization": "Bearer graph"}

    @property
    def reference(self) -> Reference:
        return Reference(
            service_url=f"{self.connector.url}/emea/",
            tenant="t-1",
            conversation="a:1",
            kind="direct",
            bot="28:b",
        )

    async def get(self, attachment: dict[str, Any], **more: Any) -> UploadedFile:
        settings = TeamsSettings(file_origin=self.sharepoint.url, graph_url=f"{self.graph.url}/v1.0")
        nothing = cast("Any", None)
        teams = Teams(
            bot=nothing, connector=cast("Any", self), people=nothing, graph=cast("Any", self),
            settings=settings, spool=self.spool,
        )  # fmt: skip
        return await download(teams, self.reference, attachment, **more)

    def sent(self, name: Any = "keys.pdf", path: str = "/download") -> dict[str, Any]:
        """A file as a person sends it in a chat with the bot."""
        content = {"downloadUrl": f"{self.sharepoint.url}{path}", "uniqueId": "u", "fileType": "pdf"}
        return {"contentType": DOWNLOAD, "contentUrl": LINK, "name": name, "content": content}

    def shared(self) -> dict[str, Any]:
        return {"contentType": REFERENCE, "contentUrl": LINK, "name": "keys.pdf", "id": "1"}

    def pasted(self, address: str | None = None) -> dict[str, Any]:
        url = address or f"{self.connector.url}/emea/v3/attachments/1/views/original"
        return {"contentType": "image/png", "contentUrl": url}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.download._PAUSES", (0.0, 0.0, 0.0))


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    async with AsyncExitStack() as stack:
        for host in (site.connector, site.graph, site.sharepoint):
            app = web.Application()
            app.router.add_route("*", "/{path:.*}", host.serve)
            server = await stack.enter_async_context(TestServer(app))
            host.url = str(server.make_url("")).rstrip("/")
        yield site


async def refused(site: Site, attachment: dict[str, Any], **more: Any) -> str:
    """The sentence; nothing is left of the file."""
    with pytest.raises(Refused) as caught:
        await site.get(attachment, **more)
    assert list(site.spool.iterdir()) == []
    return str(caught.value)


async def test_a_file_of_a_direct_chat_is_fetched_without_a_token(site: Site) -> None:
    file = await site.get(site.sent())
    assert (file.name, file.size, file.media_type) == ("keys.pdf", 200_000, "application/pdf")
    assert file.path.read_bytes() == b"%PDF" * 50_000
    assert file.path.parent == site.spool
    assert "keys" not in file.path.name
    assert file.permalink == LINK
    assert site.sharepoint.asked == [("/download", "")]


async def test_a_pasted_picture_is_asked_for_with_the_bots_token(site: Site) -> None:
    file = await site.get(site.pasted())
    assert (file.name, file.media_type, file.permalink) == ("picture.png", "image/png", None)
    assert site.connector.asked == [("/emea/v3/attachments/1/views/original", "Bearer bot")]


async def test_the_bots_token_goes_to_nobody_else(site: Site) -> None:
    await site.get(site.pasted(f"{site.sharepoint.url}/picture"))
    site.connector.leads(f"{site.sharepoint.url}/moved")
    await site.get(site.pasted())
    assert site.sharepoint.asked == [("/picture", ""), ("/moved", "")]


async def test_a_file_of_a_channel_comes_through_graph(site: Site) -> None:
    site.graph.leads(f"{site.sharepoint.url}/tempauth")
    file = await site.get(site.shared())
    assert (file.name, file.size, file.permalink) == ("keys.pdf", 200_000, LINK)
    token = "u!" + base64.urlsafe_b64encode(LINK.encode()).decode().rstrip("=")
    assert site.graph.asked == [(f"/v1.0/shares/{token}/driveItem/content", "Bearer graph")]
    # Where that leads is public for a while; the token is Graph's.
    assert site.sharepoint.asked == [("/tempauth", "")]


async def test_without_graph_it_is_said_how(site: Site) -> None:
    site.no_graph = "not set up"
    assert "Send it to me in a direct chat" in await refused(site, site.shared())


@pytest.mark.parametrize("status", [401, 403])
async def test_without_consent_it_is_said_how(site: Site, status: int) -> None:
    site.graph.says(status)
    assert "Send it to me in a direct chat" in await refused(site, site.shared())


async def test_an_address_that_held_for_a_while_only(site: Site) -> None:
    site.sharepoint.says(401)
    assert "send the file again" in await refused(site, site.sent())


@pytest.mark.parametrize("status", [404, 410])
async def test_a_file_that_is_gone(site: Site, status: int) -> None:
    site.sharepoint.says(status)
    assert "was deleted" in await refused(site, site.sent())


async def test_a_page_to_sign_in_is_no_file(site: Site) -> None:
    site.sharepoint.says(text="<html>Sign in")
    assert "asks for a login" in await refused(site, site.sent())
    site.sharepoint.leads("https://login.microsoftonline.com/common/oauth2/authorize?x")
    assert "asks for a login" in await refused(site, site.sent())


async def test_a_page_that_is_the_file_is_taken(site: Site) -> None:
    site.sharepoint.says(text="<html>Keys")
    assert (await site.get(site.sent("keys.html"))).path.read_text() == "<html>Keys"


@pytest.mark.parametrize(
    "address",
    [
        "https://sharepoint.com.evil.example/x",
        "http://contoso.sharepoint.com/x",
        "https://user:word@contoso.sharepoint.com/x",
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://169.254.169.254/latest",
        "file:///etc/passwd",
        "data:text/plain,x",
        "http://[bad",
        "https://host:99999999/",
        "",
    ],
)
async def test_nobody_else_is_asked(site: Site, address: str) -> None:
    sent = site.sent()
    sent["content"]["downloadUrl"] = address
    assert "does not lie on Microsoft 365" in await refused(site, sent)
    assert "does not lie on Microsoft 365" in await refused(site, site.pasted(address or "x"))
    site.sharepoint.leads(address)
    assert "“keys.pdf” can't be downloaded" in await refused(site, site.sent())


async def test_a_name_that_leads_to_a_private_address_is_not_asked(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(*_: Any) -> list[dict[str, Any]]:
        return [{"host": "127.0.0.1", "hostname": "x", "port": 443, "family": 2, "proto": 0, "flags": 0}]

    monkeypatch.setattr("aiohttp.ThreadedResolver.resolve", resolve)
    sent = site.sent()
    sent["content"]["downloadUrl"] = "https://contoso.sharepoint.com/x"
    assert "just now" in await refused(site, sent)


async def test_redirects_without_end(site: Site) -> None:
    site.sharepoint.leads(f"{site.sharepoint.url}/again")
    assert "in circles" in await refused(site, site.sent())
    assert len(site.sharepoint.asked) == 6


async def test_too_large(site: Site) -> None:
    assert "at most 1000 bytes" in await refused(site, site.sent(), max_bytes=1_000)


async def test_a_file_that_breaks_off_is_fetched_again(site: Site) -> None:
    whole = site.sharepoint.file

    async def broken(request: web.BaseRequest) -> web.StreamResponse:
        site.sharepoint.answer = whole
        response = web.StreamResponse(headers={"Content-Length": "200000"})
        await response.prepare(request)
        await response.write(b"%PDF")
        assert request.transport is not None
        request.transport.close()
        return response

    site.sharepoint.answer = broken
    assert (await site.get(site.sent())).size == 200_000


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_host_is_asked_again_and_then_left(site: Site, status: int) -> None:
    site.sharepoint.says(status, **{"Retry-After": "0"})
    assert "just now" in await refused(site, site.sent())
    assert len(site.sharepoint.asked) == 4


async def test_without_a_token_for_a_picture(site: Site) -> None:
    site.no_token = True
    assert "just now" in await refused(site, site.pasted())


@pytest.mark.parametrize("kind", ["text/html", "application/vnd.microsoft.card.adaptive", "", None])
async def test_what_is_no_file(site: Site, kind: Any) -> None:
    assert "no file" in await refused(site, {"contentType": kind, "content": "<p>", "name": "x"})


@pytest.mark.parametrize(
    ("attachment", "name"),
    [
        ({"name": "../../etc/passwd"}, "etc passwd"),
        ({"name": "gpj\u202eexe.txt"}, "gpj exe.txt"),
        ({"contentType": "image/*"}, "picture.png"),
        ({"contentType": "image/jpeg", "name": ""}, "picture.jpg"),
        (
            {"contentType": REFERENCE, "contentUrl": "https://x.example/Docs/our%20keys.pdf?web=1"},
            "our keys.pdf",
        ),
        ({"contentUrl": "http://[bad"}, "file"),
        ({}, "file"),
    ],
)
def test_names_are_harmless(attachment: dict[str, Any], name: str) -> None:
    assert file_label(attachment) == name


@pytest.mark.parametrize(
    ("address", "fine"),
    [
        ("https://contoso-my.sharepoint.com/personal/x/_layouts/15/download.aspx?UniqueId=1", True),
        ("https://contoso.sharepoint-df.com/x", True),
        ("https://contoso.sharepoint.us/x", True),
        ("https://southeastasia1-mediap.svc.ms/x", True),
        ("https://graph.microsoft.com/v1.0/x", True),
        ("https://contoso.sharepoint.com:8443/x", False),
        ("https://notsharepoint.com/x", False),
        ("https://login.microsoftonline.com/x", False),
        ("https://smba.trafficmanager.net/x", False),
    ],
)
def test_where_files_lie(address: str, fine: bool) -> None:
    assert allowed(URL(address), HOSTS) == fine


def test_pictures_lie_with_the_connector() -> None:
    assert allowed(URL("https://smba.trafficmanager.net/emea/v3/attachments/1/views/original"), PICTURES)
    assert not allowed(URL("https://contoso.sharepoint.com/x"), PICTURES)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "contentType": st.sampled_from([DOWNLOAD, REFERENCE, "image/png"]) | _JSON,
            "name": _JSON,
            "contentUrl": _JSON,
            "content": _JSON | st.fixed_dictionaries({"downloadUrl": _JSON}),
        },
    )
)
async def test_odd_attachments_are_refused(attachment: dict[str, Any]) -> None:
    site = Site(Path("/nowhere"))
    site.connector.url = site.graph.url = site.sharepoint.url = "http://127.0.0.1:1"
    site.no_graph = "not set up"
    with pytest.raises(Refused):
        await site.get(attachment)
