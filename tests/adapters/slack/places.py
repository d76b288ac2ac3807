"""The adapter's bundle against the strict Slack, without the app and the inbox around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from adapters.ports import Bot
from adapters.slack.clients import make_client
from adapters.slack.context import Clients, Installed, Slack
from adapters.slack.people import SlackPeople
from adapters.slack.settings import SlackSettings
from tests.doubles.slack import SlackDouble


def settings_of(slack: SlackDouble, **more: Any) -> SlackSettings:
    return SlackSettings(api_url=slack.api_url, timeout=5.0, **more)


def installed_in(slack: SlackDouble, team: str) -> Installed:
    """The app as it is installed in that team of the double."""
    known = slack.world.teams[team]
    return Installed(
        client=make_client(f"xoxb-{team}", settings_of(slack)),
        team=team,
        bot_user=known.bot_user,
        bot_id=known.bot_id,
        enterprise=known.enterprise,
    )


def bundle(slack: SlackDouble, spool: Path, *, bot: Any = None, people: SlackPeople | None = None) -> Slack:
    """For parts that ask for no client by themselves."""
    return Slack(
        cast("Bot", bot), cast("Clients", None), people or SlackPeople(), settings_of(slack), spool
    )
