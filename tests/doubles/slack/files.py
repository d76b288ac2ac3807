"""Downloads: with the right token the content, else a way to the login page, as Slack does it."""

from __future__ import annotations

import re

from aiohttp import web

from tests.doubles.slack.core import Core
from tests.doubles.slack.things import File

_PATH = re.compile(r"/files-pri/(?P<team>\w+)-(?P<file>\w+)/(?P<kind>download/)?(?P<name>.+)")
_LOGIN = (
    "<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in to your workspace</body></html>"
)


class Downloads:
    """`redirects`: how many hops a download takes; `redirect_to`: the last one leads to that address."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.redirects = 0
        self.redirect_to: str | None = None
        #: The login page comes with status 200 instead of a redirect.
        self.login_at_once = False
        #: Cuts each content after so many bytes, and closes the connection.
        self.cut_after: int | None = None
        #: Paths asked for, and whether a token came with them.
        self.asked: list[tuple[str, bool]] = []

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append((request.path, "Authorization" in request.headers))
        if request.path == "/login":
            return web.Response(text=_LOGIN, content_type="text/html")
        match = _PATH.fullmatch(request.path)
        file = self._core.world.files.get(match["file"]) if match else None
        if file is None or file.deleted:
            return web.Response(status=404, text="<html>not found</html>", content_type="text/html")
        if not self._allowed(request, file):
            if self.login_at_once:
                return web.Response(text=_LOGIN, content_type="text/html")
            return web.Response(status=302, headers={"Location": "/login?redir=" + request.path})
        hop = int(request.query.get("hop", "0"))
        if self.redirect_to is not None and hop >= self.redirects:
            return web.Response(status=302, headers={"Location": self.redirect_to})
        if hop < self.redirects:
            return web.Response(status=302, headers={"Location": f"{request.path}?hop={hop + 1}"})
        return await self._content(request, file)

    def _allowed(self, request: web.BaseRequest, file: File) -> bool:
        value = request.headers.get("Authorization", "").removeprefix("Bearer ")
        token = self._core.world.tokens.get(value)
        if token is None or token.revoked or "files:read" not in token.scopes:
            return False
        return token.team == file.team or file.connect

    async def _content(self, request: web.BaseRequest, file: File) -> web.StreamResponse:
        headers = {"Content-Type": file.mimetype, "Content-Length": str(len(file.content))}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        if self.cut_after is not None:
            await response.write(file.content[: self.cut_after])
            if request.transport is not None:
                request.transport.close()
            return response
        await response.write(file.content)
        await response.write_eof()
        return response
