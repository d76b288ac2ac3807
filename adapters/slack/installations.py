"""Where the app is installed, and with which tokens; kept as encrypted notes.

One note a team (or an organisation, for org-wide installs): its bot, and one installation for each
person who installed it. Teams and organisations have ids of their own, so that a team is still found
when it has moved into an Enterprise Grid.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import structlog
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore

from adapters.durable import Notes
from adapters.slack.encryption import Encryption, Unreadable

log = structlog.get_logger()

_BOT: Final = "bot"
_USER: Final = "user:"
#: Read from the bot for each person's installation too: a renewed token is kept with the bot alone.
_OF_BOT: Final = (
    "bot_token", "bot_id", "bot_user_id", "bot_scopes", "bot_refresh_token", "bot_token_expires_at",
)  # fmt: skip
Record = TypeVar("Record", Bot, Installation)


def note_name(enterprise: str | None, team: str | None) -> str:
    """Of the note about an installation. Without a team: org-wide."""
    return f"slack-installation:{team or enterprise or '-'}"


class Installations(AsyncInstallationStore):
    def __init__(self, notes: Notes, encryption: Encryption) -> None:
        self._notes, self._encryption = notes, encryption

    @property
    def logger(self) -> logging.Logger:
        return logging.getLogger(__name__)

    # -- writing -------------------------------------------------------------------------------
    async def async_save(self, installation: Installation) -> None:
        name = _name_of(installation)
        fields = {f"{_USER}{installation.user_id}": self._sealed(installation)}
        if installation.bot_token:
            fields[_BOT] = self._sealed(installation.to_bot())
        async with self._notes.lock(name):
            await self._notes.write(name, fields)
        log.info("slack_installed", team=installation.team_id, enterprise=installation.enterprise_id)

    async def async_save_bot(self, bot: Bot) -> None:
        name = _name_of(bot)
        async with self._notes.lock(name):
            await self._notes.write(name, {_BOT: self._sealed(bot)})

    async def renew(self, old: Bot, new: Bot) -> bool:
        """Put `new` in the place of `old`. False, and nothing is done, when the app was removed or
        installed again meanwhile."""
        name = _name_of(old)
        async with self._notes.lock(name):
            kept = self._opened(Bot, name, _BOT, (await self._notes.read(name)).get(_BOT))
            if kept is None or kept.bot_refresh_token != old.bot_refresh_token:
                return False
            await self._notes.write(name, {_BOT: self._sealed(new)})
            return True

    # -- reading -------------------------------------------------------------------------------
    async def async_find_bot(
        self,
        *,
        enterprise_id: str | None,
        team_id: str | None,
        is_enterprise_install: bool | None = False,
    ) -> Bot | None:
        name = note_name(enterprise_id, None if is_enterprise_install else team_id)
        note = await self._notes.read(name)
        await self._reseal(name, note)
        return self._opened(Bot, name, _BOT, note.get(_BOT))

    async def async_find_installation(
        self,
        *,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None = None,
        is_enterprise_install: bool | None = False,
    ) -> Installation | None:
        """That person's, or the newest one; with the bot's newest token."""
        name = note_name(enterprise_id, None if is_enterprise_install else team_id)
        note = await self._notes.read(name)
        await self._reseal(name, note)
        wanted = [f"{_USER}{user_id}"] if user_id else [key for key in note if key.startswith(_USER)]
        found = [self._opened(Installation, name, key, note.get(key)) for key in wanted]
        newest = max((one for one in found if one), key=lambda one: one.installed_at, default=None)
        bot = self._opened(Bot, name, _BOT, note.get(_BOT))
        if newest is not None:
            for part in _OF_BOT:
                setattr(newest, part, getattr(bot, part, None))
        return newest

    # -- removing ------------------------------------------------------------------------------
    async def async_delete_bot(self, *, enterprise_id: str | None, team_id: str | None) -> None:
        await self._remove(enterprise_id, team_id, lambda key: key == _BOT)

    async def async_delete_installation(
        self, *, enterprise_id: str | None, team_id: str | None, user_id: str | None = None
    ) -> None:
        await self._remove(enterprise_id, team_id, _those_of([user_id] if user_id else None))

    async def uninstalled(self, enterprise: str | None, team: str | None, *, at: float) -> None:
        """The app left at `at` (Unix time). What was installed later stays."""
        await self._remove(enterprise, team, lambda _: True, at)
        log.info("slack_uninstalled", team=team, enterprise=enterprise)

    async def revoked(
        self, enterprise: str | None, team: str | None, *, bot: bool, users: Iterable[str], at: float
    ) -> None:
        """Tokens of the bot or of persons ended at `at` (Unix time). What was installed later stays."""
        theirs = _those_of(users)
        await self._remove(enterprise, team, lambda key: theirs(key) or (bot and key == _BOT), at)
        log.info("slack_tokens_revoked", team=team, enterprise=enterprise, bot=bot)

    async def _remove(
        self,
        enterprise: str | None,
        team: str | None,
        which: Callable[[str], bool],
        at: float | None = None,
    ) -> None:
        name = note_name(enterprise, team)
        async with self._notes.lock(name):
            note = await self._notes.read(name)
            gone = [key for key in note if which(key) and not self._newer(name, key, note[key], at)]
            if gone:
                await self._notes.erase(name, *gone)

    def _newer(self, name: str, key: str, sealed: str, at: float | None) -> bool:
        if key == _BOT:
            record = self._opened(Bot, name, key, sealed)
        else:
            record = self._opened(Installation, name, key, sealed)
        return at is not None and record is not None and record.installed_at > at

    # -- sealing -------------------------------------------------------------------------------
    def _sealed(self, record: Bot | Installation) -> str:
        return self._encryption.seal(json.dumps(vars(record)))

    def _opened(self, kind: type[Record], name: str, key: str, sealed: str | None) -> Record | None:
        """None for what is not there, no key opens, or belongs elsewhere: installing again mends it."""
        if sealed is None:
            return None
        try:
            record = kind(**json.loads(self._encryption.open(sealed).text))
        except Unreadable:
            log.error("slack_installation_unreadable", name=name, advice="Was SLACK_TOKEN_KEYS changed?")
            return None
        moved = _name_of(record) != name or (
            isinstance(record, Installation) and key != f"{_USER}{record.user_id}"
        )
        if moved:  # whoever can write into the store can't give one team the token of another
            log.error("slack_installation_misplaced", name=name)
            return None
        return record

    async def _reseal(self, name: str, note: dict[str, str]) -> None:
        """Write with the first key what another one had encrypted."""
        if not any(self._with_old_key(sealed) for sealed in note.values()):
            return
        async with self._notes.lock(name):
            for key, sealed in (await self._notes.read(name)).items():
                if self._with_old_key(sealed):
                    text = self._encryption.open(sealed).text
                    await self._notes.write(name, {key: self._encryption.seal(text)})
        log.info("slack_installation_encrypted_anew", name=name)

    def _with_old_key(self, sealed: str) -> bool:
        try:
            return self._encryption.open(sealed).old_key
        except Unreadable:
            return False


def _name_of(record: Bot | Installation) -> str:
    return note_name(record.enterprise_id, None if record.is_enterprise_install else record.team_id)


def _those_of(users: Iterable[str] | None) -> Callable[[str], bool]:
    """Keys of these persons' installations; None: of all."""
    if users is None:
        return lambda key: key.startswith(_USER)
    wanted = {f"{_USER}{user}" for user in users}
    return lambda key: key in wanted


def event_time(body: dict[str, Any]) -> float:
    """When an event came about, Unix time. `event_time` is in whole seconds: its last instant counts."""
    try:
        return float(body.get("event", {})["event_ts"])
    except (KeyError, TypeError, ValueError):
        return float(body.get("event_time") or 0) + 0.999
