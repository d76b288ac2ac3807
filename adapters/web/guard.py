"""Keeps strangers out: other sites' pages, other names for this machine, and markup that loads things.

The page runs on loopback without a login, so what matters is that no page of another site, open in the
same browser, can speak to it: every request must name this server as its host (which defeats DNS
rebinding), and one that changes or reads something must come from this page itself.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types answers"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine and no other."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _host_allowed(request: web.Request) -> bool:
    try:
        return is_loopback(urlsplit(f"//{request.host}").hostname or "")
    except ValueError:
        return False


def _from_this_page(request: web.Request) -> bool:
    """A browser says where a request comes from; a program that says nothing is no other site's page."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None and site not in ("same-origin", "none"):
        return False
    origin = request.headers.get("Origin")
    return origin is None or origin in (f"http://{request.host}", f"https://{request.host}")


async def security_headers(_request: web.Request, response: web.StreamResponse) -> None:
    """Signal handler: the headers of every response, errors and streams included."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)


def same_page_only(handler: Handler) -> Handler:
    """For the chat page's own routes. Its first page alone may be opened from elsewhere, by a link."""

    async def guarded(request: web.Request) -> web.StreamResponse:
        if not _host_allowed(request):
            raise web.HTTPMisdirectedRequest(text="This page is only served on this machine, as localhost.")
        if request.path != "/" and not _from_this_page(request):
            raise web.HTTPForbidden(text="Requests from other sites are refused.")
        return await handler(request)

    return guarded
