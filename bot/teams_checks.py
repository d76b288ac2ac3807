"""What `kb doctor` says about Microsoft Teams."""

from __future__ import annotations

from typing import Any

from aiohttp import ClientSession

from adapters.ports import Refused
from adapters.teams.auth import METADATA, Keys
from adapters.teams.credentials import CONNECTOR, Credentials, NoToken
from adapters.teams.settings import TeamsSettings
from bot.admin import Check
from bot.config import Config
from bot.teams import teams_settings

_TOPIC = "Teams"


async def examine_teams(config: Config) -> list[Check]:
    """A line for each thing that is needed; a note where Teams is not set up."""
    try:
        settings = teams_settings(config)
    except Refused as error:
        return [_check("Settings", "problem", str(error))]
    if settings is None:
        return [_check("Settings", "note", "not set up", "To connect it: docs/teams.md")]
    if not settings.app_id:
        return [_check("Settings", "note", "for the Agents Playground only, without credentials")]
    async with ClientSession() as session:
        return [
            await _token(settings, session),
            await _keys(settings, session),
            _endpoint(settings),
            _admins(settings),
        ]


async def _token(settings: TeamsSettings, session: ClientSession) -> Check:
    name = "TEAMS_APP_ID"
    try:
        await Credentials(settings, session).token(CONNECTOR)
    except NoToken as error:
        advice = (
            "Compare TEAMS_APP_ID, TEAMS_APP_PASSWORD, TEAMS_APP_TYPE and TEAMS_APP_TENANT with the "
            "bot's Configuration in the Azure portal. Secrets expire."
        )
        return _check(name, "problem", f"no token for the Bot Connector ({error.why})", advice)
    return _check(name, "fine", f"{settings.app_type}, a token for the Bot Connector is given")


async def _keys(settings: TeamsSettings, session: ClientSession) -> Check:
    keys = Keys(session, settings.openid_metadata_url or METADATA)
    await keys.warm()
    if keys.known:
        return _check("Keys", "fine", f"{keys.known} public keys of the Bot Connector")
    return _check("Keys", "problem", "the Bot Connector's keys can't be had", "Is its host open from here?")


def _endpoint(settings: TeamsSettings) -> Check:
    if settings.public_url is None or not settings.public_url.startswith("https://"):
        advice = "Teams sends to an https address: set PUBLIC_URL to it."
        return _check("PUBLIC_URL", "problem", "not set, or not https", advice)
    where = f"{settings.public_url}/api/messages"
    return _check("Messaging endpoint", "fine", f"{where} (Azure portal > your bot > Configuration)")


def _admins(settings: TeamsSettings) -> Check:
    name = "TEAMS_ADMINS"
    if settings.admins:
        return _check(name, "fine", f"{len(settings.admins)} listed")
    if settings.graph_url is None:
        advice = "List somebody who may change settings and delete documents."
        return _check(name, "problem", "nobody is an admin: none is listed, and TEAMS_GRAPH is off", advice)
    advice = "Where everybody may create teams, list the admins instead."
    return _check(name, "note", "not set: owners of each team are admins of all", advice)


def _check(name: str, state: Any, detail: str, advice: str = "") -> Check:
    return Check(topic=_TOPIC, name=name, state=state, detail=detail, advice=advice)
