"""The Slack app as Slack is told about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator, validators
from typer.testing import CliRunner

from adapters.ports import Refused
from adapters.slack.manifest import SCOPES, manifest
from bot.cli import app
from bot.slack_commands import manifest_text
from tests.data import DATA, ROOT

URL = "https://kb.example.com"


#: Slack's own, beside the evaluation data.
SCHEMA = DATA.parent / "schemas" / "slack-app-manifest.schema.json" if DATA else Path("missing")


def test_manifest_yml_is_what_the_command_prints() -> None:
    assert (ROOT / "manifest.yml").read_text("utf-8") == manifest_text()
    assert yaml.safe_load(manifest_text()) == manifest()
    assert CliRunner().invoke(app, ["slack-manifest"]).stdout == manifest_text()


@pytest.mark.data
@pytest.mark.skipif(not SCHEMA.is_file(), reason="Slack's schema is not beside the data")
@pytest.mark.parametrize("url", [None, URL])
def test_the_manifest_fits_slacks_schema(url: str | None) -> None:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    checker: Any = validators.validator_for(schema, Draft7Validator)
    problems = [error.message for error in checker(schema).iter_errors(manifest(url))]
    assert problems == []


def test_socket_mode_keeps_its_token() -> None:
    settings = manifest()["settings"]
    assert settings["socket_mode_enabled"]
    assert not settings["token_rotation_enabled"]  # the token of the environment would end after 12 hours
    assert "request_url" not in json.dumps(manifest())


def test_over_http_all_comes_to_one_address() -> None:
    made = yaml.safe_load(manifest_text(f"{URL}/"))
    settings, events = made["settings"], made["settings"]["event_subscriptions"]
    command = made["features"]["slash_commands"][0]
    addresses = {events["request_url"], settings["interactivity"]["request_url"], command["url"]}
    assert addresses == {f"{URL}/slack/events"}
    assert made["oauth_config"]["redirect_urls"] == [f"{URL}/slack/oauth_redirect"]
    assert (settings["socket_mode_enabled"], settings["token_rotation_enabled"]) == (False, True)
    assert settings["org_deploy_enabled"]
    assert {"app_uninstalled", "tokens_revoked"} <= set(events["bot_events"])


@pytest.mark.parametrize("url", [None, URL])
def test_every_event_has_the_scope_that_it_needs(url: str | None) -> None:
    made = manifest(url)
    assert tuple(made["oauth_config"]["scopes"]["bot"]) == SCOPES
    events = made["settings"]["event_subscriptions"]["bot_events"]
    for event in events:
        if event.startswith("message."):
            family = event.removeprefix("message.")
            assert f"{family}:history" in SCOPES
    assert "app_mentions:read" in SCOPES


@pytest.mark.parametrize(
    "url",
    ["http://kb.example.com", "kb.example.com", "https://", "https://a b", "https://kb/?x=1", "ftp://x"],
)
def test_an_address_that_slack_would_not_call(url: str) -> None:
    with pytest.raises(Refused, match="no address"):
        manifest_text(url)
    told = CliRunner().invoke(app, ["slack-manifest", "--url", url])
    assert told.exit_code == 1
    assert told.stdout == ""
