"""The source view: one passage in its surroundings, opened by a signed link from any platform."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template

from aiohttp import web

from adapters.ports import Refused, SourceView
from adapters.web.context import BOT
from adapters.web.markdown import to_html

_TEMPLATE = Template((Path(__file__).parent / "static" / "source.html").read_text("utf-8"))
_PNG = {"Cache-Control": "private, max-age=3600"}


def _marked(view: SourceView) -> str:
    """The passage as text, with the cited words marked."""
    start, end = view.quote_span
    if end <= start:
        return f"<mark>{escape(view.passage)}</mark>"
    before, words, after = view.passage[:start], view.passage[start:end], view.passage[end:]
    return f'{escape(before)}<mark id="mark">{escape(words)}</mark>{escape(after)}'


def _image(view: SourceView, token: str) -> str:
    if not view.has_image:
        return ""
    boxes = "".join(
        f'<rect x="{m.left:.5f}" y="{m.top:.5f}" width="{m.right - m.left:.5f}" '
        f'height="{m.bottom - m.top:.5f}"/>'
        for m in view.marks
    )
    return (
        '<figure class="page"><div class="sheet">'
        f'<img src="/source/{escape(token)}/page.png" alt="Page {view.page} of {escape(view.title)}">'
        f'<svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">{boxes}</svg>'
        f"</div><figcaption>Page {view.page}</figcaption></figure>"
    )


def source_page(view: SourceView, token: str) -> str:
    """The page as HTML; everything in it that comes from a document is escaped."""
    place = [f"page {view.page}"] if view.page else []
    path = " › ".join([*view.heading_path, *place])
    original = ""
    if view.source_url and view.source_url.startswith(("https://", "http://")):
        original = f'<a rel="noopener noreferrer" href="{escape(view.source_url)}">Open the original</a>'
    return _TEMPLATE.substitute(
        title=escape(view.title),
        name=escape(view.name),
        version=view.version,
        path=escape(path),
        original=original,
        before=to_html(view.before, marks={}),
        passage=_marked(view),
        after=to_html(view.after, marks={}),
        image=_image(view, token),
    )


async def _open(request: web.Request) -> web.Response:
    token = request.match_info["token"]
    try:
        view = await request.app[BOT].sources.open(token)
    except Refused as error:
        return web.Response(status=410, text=str(error))
    headers = {"Cache-Control": "private, no-store"}
    return web.Response(text=source_page(view, token), content_type="text/html", headers=headers)


async def _page_image(request: web.Request) -> web.Response:
    try:
        png = await request.app[BOT].sources.page_image(request.match_info["token"], width=1400)
    except Refused as error:
        return web.Response(status=410, text=str(error))
    return web.Response(body=png, content_type="image/png", headers=_PNG)


#: Safe to put on the open net: each opens only with a signed link.
ROUTES = [web.get("/source/{token}", _open), web.get("/source/{token}/page.png", _page_image)]
