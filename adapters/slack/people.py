"""Who and what Slack's ids stand for. Implements `adapters.slack.context.People`.

Kept for a short while in this process, by team: a person who becomes a guest, or a channel that turns
private, is known as such within a minute; a new name within ten. What Slack does not tell is read as
narrowly as can be.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

import structlog
from slack_sdk.errors import SlackApiError

from adapters.conversation import ConversationKind, Person
from adapters.remembered import Remembered
from adapters.slack.context import Channel, Installed
from adapters.slack.errors import NoPlace, Unclear, attempt, reason_of

log = structlog.get_logger()

#: Seconds for which rights and kinds are taken as true, names are, and a failure to tell is.
FRESH: Final = 60.0
FRESH_NAME: Final = 600.0
FAILED: Final = 5.0
_SIZE: Final = 20_000
#: What, the team, and the id within that team.
Key = tuple[str, str, str]


class SlackPeople:
    """`size` is how many people and channels are kept; those that were not needed longest go first."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic, size: int = _SIZE) -> None:
        self._known = Remembered[Key, dict[str, Any]](now, size=size, failed=FAILED)

    async def person(self, installed: Installed, user: str) -> Person:
        found = await self._user(installed, user)
        if found is None:
            return Person(id=user, is_guest=True)
        guest = any(found.get(flag) for flag in ("is_restricted", "is_ultra_restricted", "is_stranger"))
        elsewhere = not _of_team(found, installed)
        return Person(
            id=user,
            name=_name(found),
            is_bot=bool(found.get("is_bot")),
            is_guest=guest or elsewhere,
            is_admin=bool(found.get("is_admin") or found.get("is_owner")) and not guest and not elsewhere,
        )

    async def name(self, installed: Installed, user: str) -> str:
        return _name(await self._user(installed, user, fresh=FRESH_NAME) or {})

    async def channel_name(self, installed: Installed, channel: str) -> str:
        found = await self._channel(installed, channel, fresh=FRESH_NAME) or {}
        return str(found.get("name") or "")

    async def groups(self, installed: Installed, user: str) -> tuple[str, ...]:
        key, client = ("usergroups", installed.team, ""), installed.client
        found = await self._get(key, FRESH_NAME, lambda: client.usergroups_list(include_users=True))
        members: dict[str, Any] = found or {}
        return tuple(group for group, users in members.items() if user in users)

    async def locale(self, installed: Installed, user: str) -> str | None:
        found = await self._user(installed, user)
        locale = (found or {}).get("locale")
        return locale if isinstance(locale, str) and locale else None

    async def channel(self, installed: Installed, channel: str) -> Channel:
        if channel.startswith("D"):
            return Channel(id=channel, kind="direct")
        found = await self._channel(installed, channel)
        if found is None:
            return Channel(id=channel, kind="shared_channel")
        return Channel(id=channel, kind=_kind(found), name=str(found.get("name") or ""))

    async def _user(
        self, installed: Installed, user: str, *, fresh: float = FRESH
    ) -> dict[str, Any] | None:
        key = ("user", installed.team, user)
        client = installed.client
        return await self._get(key, fresh, lambda: client.users_info(user=user, include_locale=True))

    async def _channel(
        self, installed: Installed, channel: str, *, fresh: float = FRESH
    ) -> dict[str, Any] | None:
        key = ("channel", installed.team, channel)
        client = installed.client
        return await self._get(key, fresh, lambda: client.conversations_info(channel=channel))

    async def _get(
        self, key: Key, fresh: float, ask: Callable[[], Awaitable[Any]]
    ) -> dict[str, Any] | None:
        return await self._known.get(key, fresh, lambda: self._ask(key[0], ask))

    async def _ask(self, what: str, ask: Callable[[], Awaitable[Any]]) -> dict[str, Any] | None:
        value: dict[str, Any] | None = None
        try:
            answer = (await attempt(ask)).get(what)
            if isinstance(answer, list):
                groups = cast("list[dict[str, Any]]", answer)
                answer = {str(group.get("id")): list(group.get("users") or []) for group in groups}
            value = cast("dict[str, Any]", answer) if isinstance(answer, dict) else None
            if value is None:
                log.warning("slack_not_told", what=what, error="no such field")
        except (Unclear, NoPlace, SlackApiError) as error:
            log.warning("slack_not_told", what=what, error=reason_of(error))
        return value


def _name(user: dict[str, Any]) -> str:
    profile: Any = user.get("profile")
    shown = cast("dict[str, Any]", profile) if isinstance(profile, dict) else {}
    names = (shown.get("display_name"), shown.get("real_name"), user.get("real_name"), user.get("name"))
    return next((name for name in names if isinstance(name, str) and name), "")


def _of_team(user: dict[str, Any], installed: Installed) -> bool:
    """Not somebody of another organisation, met in a shared channel."""
    if user.get("team_id") == installed.team:
        return True
    # In an organisation one person has one home team, and is a member of several.
    grid: Any = user.get("enterprise_user")
    member = cast("dict[str, Any]", grid) if isinstance(grid, dict) else {}
    same = installed.enterprise is not None and member.get("enterprise_id") == installed.enterprise
    return same and installed.team in cast("list[str]", member.get("teams") or [])


def _kind(channel: dict[str, Any]) -> ConversationKind:
    # Shared within an organisation, too: who reads there is a member of another workspace.
    if any(channel.get(flag) for flag in ("is_ext_shared", "is_pending_ext_shared", "is_org_shared")):
        return "shared_channel"
    if channel.get("is_im"):
        return "direct"
    if channel.get("is_mpim"):
        return "group"
    return "private_channel" if channel.get("is_private") or channel.get("is_group") else "public_channel"
