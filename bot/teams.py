"""Microsoft Teams as the environment sets it up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from adapters.ports import Bot, Refused
from adapters.teams.settings import TeamsSettings
from adapters.web.guard import is_loopback
from bot.config import Config

if TYPE_CHECKING:
    from adapters.teams.app import TeamsAdapter
    from bot.app import App

_GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_WHERE: Final = "Azure portal > your bot > Configuration"


def teams_settings(config: Config) -> TeamsSettings | None:
    """None where nothing of Teams is set. Raises `Refused` for what can't work, with what to do."""
    password = config.teams_app_password.get_secret_value() if config.teams_app_password else None
    if config.teams_playground:
        _check_playground(config)
    elif config.teams_app_id is None:
        if password or config.teams_app_tenant:
            raise Refused(f"Teams needs TEAMS_APP_ID, the Microsoft App ID ({_WHERE}).")
        return None
    else:
        _check(config, config.teams_app_id, password)
    _check_addresses(config)
    return TeamsSettings(
        app_id="" if config.teams_playground else (config.teams_app_id or "").lower(),
        app_password=password,
        app_type=config.teams_app_type,
        app_tenant=config.teams_app_tenant,
        login_url=config.teams_login_url,
        allowed_tenants=frozenset(_words(config.teams_allowed_tenants)),
        openid_metadata_url=config.teams_openid_url,
        graph_url=config.teams_graph_url if config.teams_graph else None,
        file_origin=config.teams_file_origin,
        public_url=config.public_url,
        admins=frozenset(_words(config.teams_admins)),
        streaming=config.teams_streaming,
    )


def _words(text: str) -> list[str]:
    return [word.strip().lower() for word in text.split(",") if word.strip()]


def _check_playground(config: Config) -> None:
    """Without credentials anybody who reaches the endpoint is believed."""
    if config.teams_app_id is not None:
        raise Refused("TEAMS_PLAYGROUND is for trying without credentials: unset it, or TEAMS_APP_ID.")
    if not is_loopback(config.host) or config.public_url is not None:
        raise Refused(
            "TEAMS_PLAYGROUND believes everybody who reaches it, so it needs HOST=127.0.0.1 and no "
            "PUBLIC_URL."
        )


def _check(config: Config, app_id: str, password: str | None) -> None:
    kind = config.teams_app_type
    if not _GUID.fullmatch(app_id):
        raise Refused(
            f"TEAMS_APP_ID is no app id: it looks like 00000000-0000-0000-0000-000000000000 ({_WHERE})."
        )
    if kind == "UserAssignedMSI":
        if password:
            raise Refused("TEAMS_APP_TYPE=UserAssignedMSI has no password: unset TEAMS_APP_PASSWORD.")
    elif not password:
        raise Refused(
            "TEAMS_APP_ID goes with TEAMS_APP_PASSWORD: Azure portal > App registrations > your app > "
            "Certificates & secrets > New client secret, and its value (not its id)."
        )
    if kind != "MultiTenant" and config.teams_app_tenant is None:
        raise Refused(f"TEAMS_APP_TYPE={kind} goes with TEAMS_APP_TENANT, the App Tenant ID ({_WHERE}).")
    for name, text in (
        ("TEAMS_ALLOWED_TENANTS", config.teams_allowed_tenants),
        ("TEAMS_ADMINS", config.teams_admins),
    ):
        if wrong := [word for word in _words(text) if not _GUID.fullmatch(word)]:
            raise Refused(
                f"{name} holds “{wrong[0][:60]}”, which is no id of Entra ID's. Separate ids by commas."
            )


def _check_addresses(config: Config) -> None:
    """Secrets, tokens and the keys by which requests are believed go over them."""
    for name, url in (
        ("TEAMS_LOGIN_URL", config.teams_login_url),
        ("TEAMS_OPENID_URL", config.teams_openid_url),
        ("TEAMS_GRAPH_URL", config.teams_graph_url),
        ("TEAMS_FILE_ORIGIN", config.teams_file_origin),
    ):
        if url is None:
            continue
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise Refused(f"{name} is no address: {error}.") from error
        local = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if not parts.hostname or not (parts.scheme == "https" or local):
            raise Refused(f"{name} has to be an https address, such as https://login.example.com.")


def open_teams(config: Config, app: App) -> TeamsAdapter | None:
    """The adapter, ready to run; None where Teams is not set up."""
    settings = teams_settings(config)
    if settings is None:
        return None
    from adapters.teams.app import TeamsAdapter  # about 1 s to import, for those who use it

    return TeamsAdapter(cast("Bot", app), settings, spool=app.spool)
