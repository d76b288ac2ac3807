"""Slack as the environment sets it up."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from adapters.ports import Bot, Refused
from adapters.slack.encryption import Encryption
from adapters.slack.settings import SlackSettings
from bot.config import Config

if TYPE_CHECKING:
    from adapters.slack.app import SlackAdapter
    from bot.app import App

_MAKE_KEY = 'python -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())"'


def slack_settings(config: Config) -> SlackSettings | None:
    """None where nothing of Slack is set. Raises `Refused` for what can't work, with what to do."""
    secrets = {
        name: value.get_secret_value() if value is not None else None
        for name, value in (
            ("SLACK_BOT_TOKEN", config.slack_bot_token),
            ("SLACK_APP_TOKEN", config.slack_app_token),
            ("SLACK_SIGNING_SECRET", config.slack_signing_secret),
            ("SLACK_CLIENT_SECRET", config.slack_client_secret),
            ("SLACK_TOKEN_KEYS", config.slack_token_keys),
        )
    }
    if not any(secrets.values()) and config.slack_client_id is None:
        return None
    bot, app = secrets["SLACK_BOT_TOKEN"], secrets["SLACK_APP_TOKEN"]
    keys = tuple(key.strip() for key in (secrets["SLACK_TOKEN_KEYS"] or "").split(",") if key.strip())
    _check(bot, app, secrets, keys, config)
    api_url = config.slack_api_url
    return SlackSettings(
        bot_token=bot,
        app_token=app,
        signing_secret=secrets["SLACK_SIGNING_SECRET"],
        client_id=config.slack_client_id,
        client_secret=secrets["SLACK_CLIENT_SECRET"],
        token_keys=keys,
        api_url=api_url if api_url.endswith("/") else f"{api_url}/",
        public_url=config.public_url,
        streaming=config.slack_streaming,
        checked=config.log_level == "debug",
    )


def _check(
    bot: str | None, app: str | None, secrets: dict[str, str | None], keys: tuple[str, ...], config: Config
) -> None:
    if bot is not None and bot.startswith("xapp-"):
        raise Refused(
            "SLACK_BOT_TOKEN holds an app-level token (xapp-…), which belongs into SLACK_APP_TOKEN. "
            "The bot token begins with xoxb- (OAuth & Permissions)."
        )
    if bot is not None and bot.startswith("xoxe."):
        raise Refused(
            "SLACK_BOT_TOKEN would expire within 12 hours: the Slack app has token rotation on. "
            "Make the app from manifest.yml, or let workspaces install it (SLACK_CLIENT_ID)."
        )
    if bot is not None and not bot.startswith("xoxb-"):
        raise Refused("SLACK_BOT_TOKEN is no bot token: it begins with xoxb- (OAuth & Permissions).")
    if app is not None and not app.startswith("xapp-"):
        raise Refused("SLACK_APP_TOKEN is no app-level token: it begins with xapp- (Basic Information).")
    many = config.slack_client_id is not None
    if app is not None and bot is None and not many:
        raise Refused(
            "SLACK_APP_TOKEN (Socket Mode) goes with SLACK_BOT_TOKEN: install the app at "
            "https://api.slack.com/apps > Install App and copy the token that begins with xoxb-."
        )
    if bot is None and not many:
        raise Refused("Slack needs SLACK_BOT_TOKEN, or SLACK_CLIENT_ID for many workspaces.")
    if app is None and secrets["SLACK_SIGNING_SECRET"] is None:
        raise Refused(
            "Slack needs SLACK_APP_TOKEN (Socket Mode), or SLACK_SIGNING_SECRET (requests over HTTP)."
        )
    if many and (secrets["SLACK_CLIENT_SECRET"] is None or secrets["SLACK_SIGNING_SECRET"] is None):
        raise Refused("SLACK_CLIENT_ID goes with SLACK_CLIENT_SECRET and SLACK_SIGNING_SECRET.")
    if many and not keys:
        raise Refused(f"SLACK_CLIENT_ID goes with SLACK_TOKEN_KEYS. Make a key with: {_MAKE_KEY}")
    try:
        if keys:
            Encryption(keys)
    except ValueError:
        raise Refused(f"SLACK_TOKEN_KEYS holds what is no key. Make one with: {_MAKE_KEY}") from None
    if many and config.public_url is None:
        raise Refused("SLACK_CLIENT_ID goes with PUBLIC_URL: that is where workspaces install the app.")


def open_slack(config: Config, app: App) -> SlackAdapter | None:
    """The adapter, ready to run; None where Slack is not set up."""
    settings = slack_settings(config)
    if settings is None:
        return None
    from adapters.slack.app import SlackAdapter  # about 0.3 s to import, for those who use it

    return SlackAdapter(cast("Bot", app), settings, spool=app.spool)
