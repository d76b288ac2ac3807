"""Files over HTTP: those of personal chats by ticket, those of Graph by a redirect, pasted pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from tests.doubles.teams.errors import Json, Refusal
from tests.doubles.teams.rules import Called
from tests.doubles.teams.things import File

if TYPE_CHECKING:
    from tests.doubles.teams.core import Core


class Downloads:
    def __init__(self, core: Core) -> None:
        self._core = core

    def ticketed(self, request: web.BaseRequest) -> web.Response:
        """Without a token: one that comes along is a leak, and refused as SharePoint does it."""
        core = self._core
        id = request.path.removeprefix("/download/")
        file = core.world.files.get(id)
        fresh = file is not None and core.clock.now() <= file.told + core.rules.download_seconds
        if "Authorization" in request.headers:
            return self._refuse(id, Refusal(401, "unauthenticated", "A token was sent along"))
        if file is None or request.query.get("tempauth") != file.ticket:
            return self._refuse(id, Refusal(401, "unauthenticated", "The ticket is wrong"))
        if not fresh:
            return self._refuse(id, Refusal(401, "unauthenticated", "The ticket is over", blame=False))
        if file.gone:
            return self._refuse(id, Refusal(404, "itemNotFound", "The file is gone", blame=False))
        return self._give(file)

    def picture(self, id: str) -> web.Response:
        """Whoever asks has shown the bot's token."""
        file = self._core.world.files.get(id)
        if file is None:
            raise Refusal(404, "NotFound", "There is no such attachment")
        return self._give(file)

    def _give(self, file: File) -> web.Response:
        self._record(file.id, 200)
        disposition = {"Content-Disposition": "attachment"}
        return web.Response(body=file.content, content_type="application/octet-stream", headers=disposition)

    def _refuse(self, id: str, refusal: Refusal) -> web.Response:
        self._core.refused("content", id, {}, refusal)
        return web.json_response(refusal.body, status=refusal.status)

    def _record(self, id: str, status: int) -> None:
        empty: Json = {}
        self._core.record(Called("content", id, empty, self._core.clock.now(), status))
