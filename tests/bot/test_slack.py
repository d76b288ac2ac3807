"""What the environment says about Slack, and what `kb doctor` makes of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from adapters.ports import Refused
from adapters.slack.manifest import SCOPES
from bot.config import Config
from bot.slack import slack_settings
from bot.slack_checks import examine_slack
from tests.doubles.slack import Fails, SlackDouble

KEY = Fernet.generate_key().decode()
SOCKET = {"slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1"}
HTTP = {"slack_bot_token": "xoxb-1", "slack_signing_secret": "s"}
MANY = {
    "slack_client_id": "1.2",
    "slack_client_secret": "c",
    "slack_signing_secret": "s",
    "slack_token_keys": KEY,
    "public_url": "https://kb.example.com/",
}


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [field.upper() for field in Config.model_fields if field.startswith("slack_")]:
        monkeypatch.delenv(name, raising=False)


def config(**given: Any) -> Config:
    return Config(**given)


def test_nothing_set_is_no_slack() -> None:
    assert slack_settings(config()) is None


@pytest.mark.parametrize("given", [SOCKET, HTTP, MANY, SOCKET | HTTP])
def test_what_is_enough(given: dict[str, str]) -> None:
    made = slack_settings(config(**given))
    assert made
    assert made.bot_token == given.get("slack_bot_token")
    assert made.app_token == given.get("slack_app_token")
    assert made.api_url == "https://slack.com/api/"


def test_keys_and_addresses_are_read_as_people_write_them() -> None:
    other = Fernet.generate_key().decode()
    given = MANY | {"slack_token_keys": f" {KEY}, {other} ,", "slack_api_url": "http://127.0.0.1/api"}
    made = slack_settings(config(**given))
    assert made
    assert made.token_keys == (KEY, other)
    assert made.api_url == "http://127.0.0.1/api/"
    assert made.public_url == "https://kb.example.com"
    assert KEY not in repr(made)


def _without(name: str) -> dict[str, str]:
    return {key: value for key, value in MANY.items() if key != name}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (SOCKET | {"slack_bot_token": "xapp-1"}, "belongs into SLACK_APP_TOKEN"),
        (SOCKET | {"slack_bot_token": "xoxp-1"}, "begins with xoxb-"),
        (SOCKET | {"slack_bot_token": "xoxe.xoxb-1"}, "12 hours"),
        (SOCKET | {"slack_app_token": "xoxb-1"}, "begins with xapp-"),
        ({"slack_app_token": "xapp-1"}, "goes with SLACK_BOT_TOKEN"),
        ({"slack_bot_token": "xoxb-1"}, "SLACK_APP_TOKEN .*SLACK_SIGNING_SECRET"),
        ({"slack_signing_secret": "s"}, "needs SLACK_BOT_TOKEN"),
        (_without("slack_client_secret"), "SLACK_CLIENT_SECRET"),
        (_without("slack_signing_secret"), "SLACK_SIGNING_SECRET"),
        (_without("slack_token_keys"), "Make a key with: .*generate_key"),
        (_without("public_url"), "PUBLIC_URL"),
        (MANY | {"slack_token_keys": f"{KEY},secret"}, "no key.*generate_key"),
    ],
)
def test_what_cannot_work_says_what_to_do(given: dict[str, str], told: str) -> None:
    with pytest.raises(Refused, match=told) as refused:
        slack_settings(config(**given))
    assert "\n" not in str(refused.value)
    assert KEY not in str(refused.value)


# -- kb doctor -----------------------------------------------------------------------------------


@pytest.fixture
async def slack() -> AsyncGenerator[SlackDouble]:
    async with SlackDouble() as slack:
        slack.world.add_team()
        yield slack


async def lines(slack: SlackDouble, **given: Any) -> dict[str, tuple[str, str]]:
    """State and text of each check, by its name."""
    own = {
        "slack_bot_token": f"xoxb-{slack.world.first_team}",
        "slack_app_token": slack.app.app_token,
        "slack_api_url": slack.api_url,
    }
    checks = await examine_slack(config(**own | given))
    assert all(check.topic == "Slack" for check in checks)
    assert len({check.name for check in checks}) == len(checks)
    return {check.name: (check.state, f"{check.detail} {check.advice}") for check in checks}


async def test_doctor_is_content(slack: SlackDouble) -> None:
    found = await lines(slack, slack_signing_secret="s", public_url="https://kb.example.com")
    assert {name for name, (state, _) in found.items() if state == "fine"} == set(found)
    assert set(found) == {"SLACK_BOT_TOKEN", "Scopes", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"}


async def test_doctor_says_what_to_do_where_nothing_is_set() -> None:
    (check,) = await examine_slack(config())
    assert (check.state, check.advice) == ("note", "To connect it: docs/slack.md")


async def test_doctor_tells_settings_that_cannot_work() -> None:
    (check,) = await examine_slack(config(slack_bot_token="xapp-1"))
    assert check.state == "problem"


async def test_doctor_names_missing_scopes(slack: SlackDouble) -> None:
    for token in slack.world.tokens.values():
        token.scopes = frozenset(SCOPES) - {"files:read", "mpim:read"}
    state, text = (await lines(slack))["Scopes"]
    assert state == "problem"
    assert text.startswith("missing: files:read, mpim:read ")
    assert "kb slack-manifest" in text


@pytest.mark.parametrize(
    ("method", "code", "name", "told"),
    [
        ("auth.test", "invalid_auth", "SLACK_BOT_TOKEN", "OAuth & Permissions"),
        ("apps.connections.open", "invalid_auth", "SLACK_APP_TOKEN", "connections:write"),
        ("apps.connections.open", "missing_scope", "SLACK_APP_TOKEN", "connections:write"),
        ("apps.connections.open", "forbidden", "SLACK_APP_TOKEN", "Socket Mode"),
    ],
)
async def test_doctor_tells_what_slack_refuses(
    slack: SlackDouble, method: str, code: str, name: str, told: str
) -> None:
    slack.faults.next(method, Fails(code))
    state, text = (await lines(slack))[name]
    assert state == "problem"
    assert told in text


async def test_doctor_tells_that_slack_is_out_of_reach() -> None:
    given = SOCKET | {"slack_api_url": "http://127.0.0.1:1/api/"}
    checks = await examine_slack(config(**given))
    assert [(check.name, check.state) for check in checks] == [
        ("SLACK_BOT_TOKEN", "problem"), ("SLACK_APP_TOKEN", "problem"),
    ]  # fmt: skip
    assert all("can't be reached" in check.detail for check in checks)
