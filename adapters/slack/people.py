"""Who and what Slack's ids stand for. Implements `adapters.slack.context.People`.

Kept for a short while in this process, by team: a person who becomes a guest, or a channel that turns
private, is known as such within a minute. What Slack does not tell is read as narrowly as can be.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, cast

import structlog
from slack_sdk.errors import SlackApiError

from adapters.conversation import ConversationKind, Person
from adapters.slack.context import Channel, Installed
from adapters.slack.errors import NoPlace, Unclear, attempt

log = structlog.get_logger()

#: Seconds for which what Slack told is taken as true; and for which a failure to tell is.
FRESH, FAILED = 60.0, 5.0
_SIZE: Final = 20_000
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Known:
    value: dict[str, Any] | None
    until: float


class SlackPeople:
    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._known: OrderedDict[Key, _Known] = OrderedDict()
        self._asking: dict[Key, asyncio.Task[dict[str, Any] | None]] = {}

    async def person(self, installed: Installed, user: str) -> Person:
        found = await self._user(installed, user)
        if found is None:
            return Person(id=user, is_guest=True)
        profile = cast("dict[str, Any]", found.get("profile") or {})
        name = profile.get("display_name") or profile.get("real_name") or found.get("real_name")
        guest = any(found.get(flag) for flag in ("is_restricted", "is_ultra_restricted", "is_stranger"))
        elsewhere = not _of_team(found, installed)
        return Person(
            id=user,
            name=str(name or found.get("name") or ""),
            is_bot=bool(found.get("is_bot")),
            is_guest=guest or elsewhere,
            is_admin=bool(found.get("is_admin") or found.get("is_owner")) and not guest and not elsewhere,
        )

    async def locale(self, installed: Installed, user: str) -> str | None:
        found = await self._user(installed, user)
        locale = (found or {}).get("locale")
        return locale if isinstance(locale, str) and locale else None

    async def channel(self, installed: Installed, channel: str) -> Channel:
        if channel.startswith("D"):
            return Channel(id=channel, kind="direct")
        key = ("channel", installed.team, channel)
        found = await self._get(
            key, "channel", lambda: installed.client.conversations_info(channel=channel)
        )
        if found is None:
            return Channel(id=channel, kind="shared_channel")
        return Channel(id=channel, kind=_kind(found), name=str(found.get("name") or ""))

    async def _user(self, installed: Installed, user: str) -> dict[str, Any] | None:
        key = ("user", installed.team, user)
        return await self._get(
            key, "user", lambda: installed.client.users_info(user=user, include_locale=True)
        )

    async def _get(self, key: Key, field: str, ask: Callable[[], Awaitable[Any]]) -> dict[str, Any] | None:
        known = self._known.get(key)
        if known is not None and known.until > self._now():
            return known.value
        task = self._asking.get(key)
        if task is None:
            task = asyncio.create_task(self._ask(key, field, ask))
            self._asking[key] = task
            task.add_done_callback(lambda _done: self._asking.pop(key, None))
        # One who goes away does not take the answer from the others who wait for it.
        return await asyncio.shield(task)

    async def _ask(self, key: Key, field: str, ask: Callable[[], Awaitable[Any]]) -> dict[str, Any] | None:
        value: dict[str, Any] | None = None
        try:
            value = cast("dict[str, Any]", (await attempt(ask))[field])
        except (Unclear, NoPlace, SlackApiError, KeyError) as error:
            log.warning("slack_not_told", what=field, error=str(error)[:80])
        self._known[key] = _Known(value, self._now() + (FRESH if value is not None else FAILED))
        self._known.move_to_end(key)
        if len(self._known) > _SIZE:
            self._known.popitem(last=False)
        return value


def _of_team(user: dict[str, Any], installed: Installed) -> bool:
    """Not somebody of another organisation, met in a shared channel."""
    enterprise = cast("dict[str, Any]", user.get("enterprise_user") or {})
    if installed.enterprise is not None and enterprise.get("enterprise_id") == installed.enterprise:
        return True
    return user.get("team_id") in (None, installed.team)


def _kind(channel: dict[str, Any]) -> ConversationKind:
    if any(channel.get(flag) for flag in ("is_ext_shared", "is_pending_ext_shared")):
        return "shared_channel"
    if channel.get("is_im"):
        return "direct"
    if channel.get("is_mpim"):
        return "group"
    return "private_channel" if channel.get("is_private") or channel.get("is_group") else "public_channel"
