"""What `kb doctor` says about Slack."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.ports import Refused
from adapters.slack.clients import make_client
from adapters.slack.errors import code_of
from adapters.slack.manifest import INSTALL, SCOPES
from adapters.slack.settings import SlackSettings
from adapters.slack.socket import connection_refused
from bot.admin import Check
from bot.config import Config
from bot.slack import slack_settings

_TOPIC = "Slack"
#: Nobody waits long for a diagnosis.
_TIMEOUT = 10.0


async def examine_slack(config: Config) -> list[Check]:
    """One line for each way in; a note where Slack is not set up."""
    try:
        settings = slack_settings(config)
    except Refused as error:
        return [_check("Settings", "problem", str(error))]
    if settings is None:
        return [_check("Settings", "note", "not set up", "To connect it: docs/slack.md")]
    checks: list[Check] = []
    if settings.bot_token is not None:
        checks += await _bot(settings)
    if settings.app_token is not None:
        checks.append(await _socket_mode(settings))
    if settings.signing_secret is not None:
        checks.append(_http(settings))
    if settings.client_id is not None:
        where = f"{settings.public_url}{INSTALL}"
        checks.append(_check("Installing", "fine", f"workspaces install the app at {where}"))
    return checks


async def _bot(settings: SlackSettings) -> list[Check]:
    try:
        found = await _client(settings).auth_test(token=settings.bot_token)
    except SlackApiError as error:
        code = code_of(error) or "no readable answer"
        return [
            _check(
                "SLACK_BOT_TOKEN",
                "problem",
                f"Slack does not take it ({code})",
                "Copy the Bot User OAuth Token from https://api.slack.com/apps > OAuth & Permissions.",
            )
        ]
    except (ClientError, SlackClientError, TimeoutError, OSError) as error:
        return [_unreachable("SLACK_BOT_TOKEN", settings, error)]
    who = f"{found.get('user')} in {found.get('team')}"
    return [_check("SLACK_BOT_TOKEN", "fine", who), _scopes(found.headers)]


def _scopes(headers: Any) -> Check:
    told = {str(name).lower(): str(value) for name, value in dict(headers).items()}
    given = told.get("x-oauth-scopes")
    if given is None:
        return _check("Scopes", "note", "Slack did not tell which ones the token has")
    missing = sorted(set(SCOPES) - {scope.strip() for scope in given.split(",")})
    if not missing:
        return _check("Scopes", "fine", f"all {len(SCOPES)} are there")
    advice = "Put the output of `kb slack-manifest` into the app's manifest, then install the app again."
    return _check("Scopes", "problem", f"missing: {', '.join(missing)}", advice)


async def _socket_mode(settings: SlackSettings) -> Check:
    name = "SLACK_APP_TOKEN"
    try:
        await _client(settings).apps_connections_open(app_token=settings.app_token or "")
    except SlackApiError as error:
        return _check(name, "problem", connection_refused(error))
    except (ClientError, SlackClientError, TimeoutError, OSError) as error:
        return _unreachable(name, settings, error)
    return _check(name, "fine", "Socket Mode can be opened")


def _http(settings: SlackSettings) -> Check:
    name = "SLACK_SIGNING_SECRET"
    if settings.public_url is None:
        advice = "Slack sends to an https address; set it, or use Socket Mode (SLACK_APP_TOKEN)."
        return _check(name, "note", "set, but PUBLIC_URL is not", advice)
    return _check(name, "fine", f"requests are taken at {settings.public_url}/slack/events")


def _client(settings: SlackSettings) -> Any:
    client = make_client(None, settings)
    client.timeout = round(min(_TIMEOUT, settings.timeout))
    client.retry_handlers = []
    return client


def _unreachable(name: str, settings: SlackSettings, error: Exception) -> Check:
    host = urlsplit(settings.api_url).hostname
    return _check(
        name, "problem", f"{host} can't be reached ({type(error).__name__})", "Is it open from here?"
    )


def _check(name: str, state: Any, detail: str, advice: str = "") -> Check:
    return Check(topic=_TOPIC, name=name, state=state, detail=detail, advice=advice)
