"""Microsoft Graph, where a team or a chat consented. Implements `adapters.teams.context.Graph`."""

from __future__ import annotations

import asyncio
import random
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final, cast
from urllib.parse import quote, urlsplit

import structlog
from aiohttp import ClientError, ClientSession, ClientTimeout

from adapters.teams.credentials import GRAPH, Credentials, NoToken
from adapters.teams.errors import NoGraph
from adapters.teams.reference import Reference
from adapters.teams.settings import TeamsSettings

log = structlog.get_logger()

#: Messages of a page, as Graph takes them at most.
_PAGE: Final = 50
_AGAIN: Final = frozenset({429, 500, 502, 503, 504})
_PAUSES: Final = (0.5, 2.0)
#: Seconds waited here when Graph says "later"; seconds for which a refusal, and an answer, is kept.
_LONGEST_WAIT: Final = 5.0
REFUSED: Final = 300.0
FRESH: Final = 60.0
_SIZE: Final = 5_000


class GraphClient:
    """With the app's own token, for the tenant that the conversation is in."""

    def __init__(
        self,
        settings: TeamsSettings,
        session: ClientSession,
        credentials: Credentials,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = (settings.graph_url or "").rstrip("/")
        self._session, self._credentials, self._now = session, credentials, now
        self._timeout = ClientTimeout(total=min(settings.timeout, 10.0))
        #: Until when a team or chat is not asked again, since it refused.
        self._refused: OrderedDict[str, float] = OrderedDict()
        self._owners: OrderedDict[str, tuple[frozenset[str], float]] = OrderedDict()

    async def replies(self, reference: Reference, *, limit: int = 200) -> list[dict[str, Any]]:
        root = f"{self._channel(reference)}/messages/{quote(reference.root or '', safe='')}"
        first = await self._get(reference, root)
        # The newest come first; the oldest of a long thread are not needed, but for its root.
        replies = await self._pages(reference, f"{root}/replies?$top={_PAGE}", limit)
        return [first, *reversed(replies)]

    async def chat(self, reference: Reference, *, limit: int = 50) -> list[dict[str, Any]]:
        path = f"/chats/{quote(reference.channel, safe='')}/messages?$top={min(limit, _PAGE)}"
        return list(reversed(await self._pages(reference, path, limit)))

    async def owners(self, reference: Reference) -> frozenset[str]:
        group = reference.team_group or ""
        known = self._owners.get(group)
        if known is not None and self._now() < known[1] + FRESH:
            return known[0]
        found = await self._pages(reference, f"/teams/{quote(group, safe='')}/members", 1_000)
        owners = frozenset(
            str(member.get("userId") or "")
            for member in found
            if "owner" in cast("list[str]", member.get("roles") or [])
        )
        self._keep(self._owners, group, (owners, self._now()))
        return owners

    async def content(self, reference: Reference, path: str) -> tuple[str, dict[str, str]]:
        """Address and headers with which a file of Graph's can be fetched."""
        return f"{self._url}{path}", await self._headers(reference)

    def _channel(self, reference: Reference) -> str:
        if reference.team_group is None:
            raise NoGraph("the team's group is not known")
        return f"/teams/{quote(reference.team_group, safe='')}/channels/{quote(reference.channel, safe='')}"

    async def _pages(self, reference: Reference, path: str, limit: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        following: str | None = path
        while following is not None and len(found) < limit:
            page = await self._get(reference, following)
            values = cast("list[Any]", page.get("value") or [])
            found += [cast("dict[str, Any]", value) for value in values if isinstance(value, dict)]
            following = self._own(page.get("@odata.nextLink"))
        return found[:limit]

    def _own(self, link: Any) -> str | None:
        """A next page, at the same address only: the token goes along."""
        if not isinstance(link, str) or not link.startswith(f"{self._url}/"):
            return None
        return link.removeprefix(self._url)

    async def _get(self, reference: Reference, path: str) -> dict[str, Any]:
        place = f"{reference.tenant}:{reference.team_group or reference.channel}"
        if self._now() < self._refused.get(place, 0.0):
            raise NoGraph("refused lately")
        headers = await self._headers(reference)
        for number in range(len(_PAUSES) + 1):
            pause = _PAUSES[min(number, len(_PAUSES) - 1)] * random.uniform(0.7, 1.3)  # noqa: S311
            try:
                async with self._session.get(
                    f"{self._url}{path}", headers=headers, timeout=self._timeout, allow_redirects=False
                ) as answer:
                    if answer.status == 200:
                        found: Any = await answer.json(content_type=None)
                        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
                    if answer.status not in _AGAIN:
                        if answer.status in (401, 403):
                            self._keep(self._refused, place, self._now() + REFUSED)
                        raise NoGraph(f"status {answer.status}")
                    why, later = f"status {answer.status}", answer.headers.get("Retry-After", "")
                    pause = float(later) if later.isdecimal() else pause
            except (ClientError, TimeoutError, OSError, ValueError) as error:
                why = type(error).__name__
            if number == len(_PAUSES) or pause > _LONGEST_WAIT:
                raise NoGraph(why)
            await asyncio.sleep(pause)
        raise AssertionError("unreachable")

    async def _headers(self, reference: Reference) -> dict[str, str]:
        if not self._url:
            raise NoGraph("not set up")
        parts = urlsplit(self._url)
        if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost"):
            raise NoGraph("not https")
        try:
            token = await self._credentials.token(GRAPH, tenant=reference.tenant)
        except NoToken as error:
            raise NoGraph(f"no token: {error.why}") from error
        if not token:
            raise NoGraph("no credentials")
        return {"Authorization": f"Bearer {token}"}

    def _keep(self, where: OrderedDict[str, Any], key: str, value: Any) -> None:
        where[key] = value
        where.move_to_end(key)
        while len(where) > _SIZE:
            where.popitem(last=False)
