"""The source view: one passage in its surroundings, opened by a signed link from any platform."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template

from aiohttp import web

from adapters.conversation import SLIDES
from adapters.ports import Refused, SourceView
from adapters.web.context import BOT
from adapters.web.markdown import to_html
from adapters.web.passage import passage_html

_STATIC = Path(__file__).parent / "static"
_SOURCE = Template((_STATIC / "source.html").read_text("utf-8"))
_GONE = Template((_STATIC / "gone.html").read_text("utf-8"))
#: Pixels across a page image, for screens of high density.
_WIDTH = 1400


def link_within(url: str | None) -> str | None:
    """A source's link, for the page: it leads to this server, at whatever address the bot told others."""
    return f"{url[url.rindex('/source/') :]}#mark" if url and "/source/" in url else url


def _image(view: SourceView, token: str) -> str:
    if not view.has_image:
        return ""
    boxes = "".join(
        f'<rect x="{m.left:.5f}" y="{m.top:.5f}" width="{m.right - m.left:.5f}" '
        f'height="{m.bottom - m.top:.5f}"/>'
        for m in view.marks
    )
    words = "with the cited words marked" if view.marks else "on which the passage stands"
    return (
        '<figure class="page"><div class="sheet">'
        f'<img src="/source/{escape(token)}/page.png" alt="Page {view.page} of {escape(view.title)}">'
        f'<svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">{boxes}</svg>'
        f"</div><figcaption>Page {view.page}, {words}</figcaption></figure>"
    )


def _around(text: str, label: str) -> str:
    if not text.strip():
        return ""
    return f'<section class="around" aria-label="{label}">{to_html(text, marks={})}</section>'


def source_page(view: SourceView, token: str) -> str:
    """The page as HTML; everything in it that comes from a document is escaped."""
    unit = "slide" if view.name.lower().endswith(SLIDES) else "page"
    path = [*view.heading_path, *([f"{unit} {view.page}"] if view.page else [])]
    facts = [view.name, f"version {view.version}"]
    original = ""
    if view.source_url and view.source_url.startswith(("https://", "http://")):
        original = f' · <a rel="noopener noreferrer" href="{escape(view.source_url)}">Open the original</a>'
    return _SOURCE.substitute(
        title=escape(view.title),
        facts=escape(" · ".join(facts)) + original,
        path=" <span>›</span> ".join(f"<bdi>{escape(part)}</bdi>" for part in path),
        before=_around(view.before, "Before the passage"),
        passage=passage_html(view.passage, view.quote_span),
        after=_around(view.after, "After the passage"),
        image=_image(view, token),
    )


async def _open(request: web.Request) -> web.Response:
    token = request.match_info["token"]
    headers = {"Cache-Control": "private, no-store"}
    try:
        view = await request.app[BOT].sources.open(token)
    except Refused as error:
        html = _GONE.substitute(reason=escape(str(error)))
        return web.Response(status=410, text=html, content_type="text/html", headers=headers)
    return web.Response(text=source_page(view, token), content_type="text/html", headers=headers)


async def _page_image(request: web.Request) -> web.Response:
    try:
        png = await request.app[BOT].sources.page_image(request.match_info["token"], width=_WIDTH)
    except Refused as error:
        return web.Response(status=410, text=str(error))
    headers = {"Cache-Control": "private, max-age=3600"}
    return web.Response(body=png, content_type="image/png", headers=headers)


#: Safe to put on the open net: each opens only with a signed link.
ROUTES = [web.get("/source/{token}", _open), web.get("/source/{token}/page.png", _page_image)]
