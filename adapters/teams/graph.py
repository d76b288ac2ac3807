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
from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout
from yarl import URL

from adapters.teams.credentials import GRAPH, Credentials, NoToken
from adapters.teams.errors import NoGraph
from adapters.teams.reference import Reference
from adapters.teams.settings import TeamsSettings

log = structlog.get_logger()

#: Messages of a page, as Graph takes them at most; pages that are read, some of which may be empty.
_PAGE: Final = 50
_PAGES: Final = 40
_AGAIN: Final = frozenset({429, 500, 502, 503, 504})
_PAUSES: Final = (0.5, 2.0)
#: Seconds waited here when Graph says "later".
_LONGEST_WAIT: Final = 5.0
#: Seconds for which a refusal is kept; and for which owners are, and that Graph was not reached.
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
        #: Until when a team or chat is not asked for something again.
        self._refused: OrderedDict[str, float] = OrderedDict()
        self._owners: OrderedDict[str, tuple[frozenset[str], float]] = OrderedDict()

    async def replies(self, reference: Reference, *, limit: int = 200) -> list[dict[str, Any]]:
        root = f"{self._channel(reference)}/messages/{quote(reference.root or '', safe='')}"
        first = await self._get(reference, root, "messages")
        # The newest come first; the oldest of a long thread are not needed, but for its root.
        replies = await self._pages(reference, f"{root}/replies?$top={_PAGE}", "messages", limit)
        return [first, *sorted(replies, key=_age)]

    async def chat(self, reference: Reference, *, limit: int = 50) -> list[dict[str, Any]]:
        # By default those come first that were edited or liked last.
        query = f"$top={min(limit, _PAGE)}&$orderby=createdDateTime%20desc"
        path = f"/chats/{quote(reference.channel, safe='')}/messages?{query}"
        return sorted(await self._pages(reference, path, "messages", limit), key=_age)

    async def owners(self, reference: Reference) -> frozenset[str]:
        path = f"{self._team(reference)}/members"
        known = self._owners.get(path)
        if known is not None and self._now() < known[1] + FRESH:
            return known[0]
        found = await self._pages(reference, path, "members", 1_000)
        owners = frozenset(
            user
            for member in found
            if isinstance(user := member.get("userId"), str) and "owner" in _list(member.get("roles"))
        )
        self._keep(self._owners, path, (owners, self._now()))
        return owners

    async def content(self, reference: Reference, path: str) -> tuple[str, dict[str, str]]:
        """Address and headers with which a file of Graph's can be fetched."""
        return f"{self._url}{path}", _bearer(await self._token(reference))

    def _team(self, reference: Reference) -> str:
        if not reference.team_group:
            raise NoGraph("the team's group is not known")
        return f"/teams/{quote(reference.team_group, safe='')}"

    def _channel(self, reference: Reference) -> str:
        return f"{self._team(reference)}/channels/{quote(reference.channel, safe='')}"

    async def _pages(self, reference: Reference, path: str, what: str, limit: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        following: str | None = path
        for _ in range(_PAGES):
            if following is None or len(found) >= limit:
                break
            page = await self._get(reference, following, what)
            found += [
                cast("dict[str, Any]", one) for one in _list(page.get("value")) if isinstance(one, dict)
            ]
            following = self._own(page.get("@odata.nextLink"))
        return found[:limit]

    def _own(self, link: Any) -> str | None:
        """A next page, at the same address only: the token goes along."""
        if not isinstance(link, str) or not link.startswith(f"{self._url}/"):
            return None
        return link.removeprefix(self._url)

    async def _get(self, reference: Reference, path: str, what: str) -> dict[str, Any]:
        """`what`: consent is given to each kind of thing apart."""
        place = f"{reference.tenant}:{reference.team_group or reference.channel}:{what}"
        if self._now() < self._refused.get(place, 0.0):
            raise NoGraph("refused lately")
        try:
            return await self._surely(reference, path)
        except _Refused as error:
            self._keep(self._refused, place, self._now() + error.seconds)
            raise
        except asyncio.CancelledError:
            # Whoever asked has lost patience; others shall not wait for it too.
            self._keep(self._refused, place, self._now() + FRESH)
            raise

    async def _surely(self, reference: Reference, path: str) -> dict[str, Any]:
        # As it stands: the mark of a next page is Graph's own.
        url = URL(f"{self._url}{path}", encoded=True)
        token, refused, why = await self._token(reference), "", "status 401"
        for number in range(len(_PAUSES) + 1):
            pause = _PAUSES[min(number, len(_PAUSES) - 1)] * random.uniform(0.7, 1.3)  # noqa: S311
            try:
                async with self._session.get(
                    url, headers=_bearer(token), timeout=self._timeout, allow_redirects=False
                ) as answer:
                    if answer.status == 401 and not refused:
                        token, refused = await self._token(reference, refused=token), token
                        continue
                    if answer.status not in _AGAIN:
                        return await _read(answer)
                    why, later = f"status {answer.status}", answer.headers.get("Retry-After", "")
                    pause = float(later) if later.isdecimal() else pause
            except (ClientError, TimeoutError, OSError, ValueError) as error:
                why = type(error).__name__
            if number == len(_PAUSES) or pause > _LONGEST_WAIT:
                break
            await asyncio.sleep(pause)
        raise _Refused(why, FRESH)

    async def _token(self, reference: Reference, *, refused: str = "") -> str:
        if not self._url:
            raise NoGraph("not set up")
        parts = urlsplit(self._url)
        if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost"):
            raise NoGraph("not https")
        try:
            token = await self._credentials.token(GRAPH, tenant=reference.tenant, refused=refused)
        except NoToken as error:
            raise _Refused(f"no token: {error.why}", FRESH) from error
        if not token:
            raise NoGraph("no credentials")
        return token

    def _keep(self, where: OrderedDict[str, Any], key: str, value: Any) -> None:
        where[key] = value
        where.move_to_end(key)
        while len(where) > _SIZE:
            where.popitem(last=False)


class _Refused(NoGraph):
    """Not asked again for `seconds`."""

    def __init__(self, why: str, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(why)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def _read(answer: ClientResponse) -> dict[str, Any]:
    if answer.status in (401, 403):
        raise _Refused(f"status {answer.status}", REFUSED)
    if answer.status != 200:
        raise NoGraph(f"status {answer.status}")
    found: Any = await answer.json(content_type=None)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _age(message: dict[str, Any]) -> tuple[int, str]:
    """Ids are times."""
    message_id = str(message.get("id") or "")
    return len(message_id), message_id


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
