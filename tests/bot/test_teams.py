"""What the environment says about Teams, and what `kb doctor` makes of it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from adapters.ports import Refused
from bot.config import Config
from bot.teams import teams_settings
from bot.teams_checks import examine_teams
from tests.doubles.teams import Breaks, Fails, TeamsDouble

APP = "11111111-2222-4333-8444-555555555555"
TENANT = "99999999-2222-4333-8444-555555555555"
OTHER = "88888888-2222-4333-8444-555555555555"
SINGLE = {"teams_app_id": APP, "teams_app_password": "s3cret", "teams_app_tenant": TENANT}
MULTI = {"teams_app_id": APP, "teams_app_password": "s3cret", "teams_app_type": "MultiTenant"}
MANAGED = {"teams_app_id": APP, "teams_app_tenant": TENANT, "teams_app_type": "UserAssignedMSI"}
PLAYGROUND = {"teams_playground": True}


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [field.upper() for field in Config.model_fields]:
        monkeypatch.delenv(name, raising=False)


def config(**given: Any) -> Config:
    return Config(**given)


def test_nothing_set_is_no_teams() -> None:
    assert teams_settings(config()) is None
    assert teams_settings(config(teams_admins=OTHER, teams_streaming=False)) is None


@pytest.mark.parametrize("given", [SINGLE, MULTI, MANAGED])
def test_what_is_enough(given: dict[str, Any]) -> None:
    made = teams_settings(config(**given))
    assert made
    assert (made.app_id, made.app_password) == (APP, given.get("teams_app_password"))
    assert made.app_tenant == given.get("teams_app_tenant")
    assert made.app_type == given.get("teams_app_type", "SingleTenant")
    assert made.openid_metadata_url is None
    assert made.graph_url == "https://graph.microsoft.com/v1.0"
    assert "s3cret" not in repr(made)


def test_ids_are_read_as_people_write_them() -> None:
    listed = f" {OTHER.upper()},{TENANT} ,, "
    given = SINGLE | {"teams_admins": listed, "teams_allowed_tenants": listed, "teams_app_id": APP.upper()}
    made = teams_settings(config(**given))
    assert made
    assert made.app_id == APP
    assert made.admins == made.allowed_tenants == {OTHER, TENANT}


def test_what_is_switched_off_is_not_asked() -> None:
    made = teams_settings(config(**SINGLE, teams_graph=False, teams_streaming=False))
    assert made
    assert (made.graph_url, made.streaming) == (None, False)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_the_playground_needs_no_credentials_on_this_machine(host: str) -> None:
    made = teams_settings(config(**PLAYGROUND, host=host))
    assert made
    assert made.app_id == ""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"teams_app_password": "s3cret"}, "TEAMS_APP_ID"),
        ({"teams_app_tenant": TENANT}, "TEAMS_APP_ID"),
        (SINGLE | {"teams_app_id": "footnote"}, "TEAMS_APP_ID is no app id"),
        (SINGLE | {"teams_app_password": None}, "TEAMS_APP_PASSWORD.*its value"),
        (MULTI | {"teams_app_password": None}, "TEAMS_APP_PASSWORD.*its value"),
        (SINGLE | {"teams_app_tenant": None}, "TEAMS_APP_TENANT"),
        (MANAGED | {"teams_app_tenant": None}, "TEAMS_APP_TENANT"),
        (MANAGED | {"teams_app_password": "s3cret"}, "unset TEAMS_APP_PASSWORD"),
        (SINGLE | {"teams_admins": "ann@contoso.example"}, "TEAMS_ADMINS.*ann@contoso.example"),
        (SINGLE | {"teams_allowed_tenants": "contoso.com"}, "TEAMS_ALLOWED_TENANTS.*contoso.com"),
        (SINGLE | {"teams_login_url": "http://login.example"}, "TEAMS_LOGIN_URL.*https"),
        (SINGLE | {"teams_openid_url": "login.example"}, "TEAMS_OPENID_URL.*https"),
        (SINGLE | {"teams_graph_url": "http://127.0.0.1.example"}, "TEAMS_GRAPH_URL.*https"),
        (SINGLE | {"teams_file_origin": "http://[x"}, "TEAMS_FILE_ORIGIN"),
        (PLAYGROUND | {"host": "0.0.0.0"}, "HOST=127.0.0.1"),
        (PLAYGROUND | {"host": "kb.example.com"}, "HOST=127.0.0.1"),
        (PLAYGROUND | {"public_url": "https://kb.example.com"}, "no PUBLIC_URL"),
        (PLAYGROUND | SINGLE, "unset it"),
    ],
)
def test_what_cannot_work_says_what_to_do(given: dict[str, Any], told: str) -> None:
    with pytest.raises(Refused, match=told) as refused:
        teams_settings(config(**given))
    assert "\n" not in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_a_kind_of_app_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"(?i)teams_app_type"):
        config(teams_app_type="Tenant")


# -- kb doctor -----------------------------------------------------------------------------------


@pytest.fixture
async def teams(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[TeamsDouble]:
    monkeypatch.setattr("adapters.teams.credentials._PAUSE", 0.0)
    async with TeamsDouble() as teams:
        teams.app.tenant = teams.world.first_tenant
        yield teams


async def lines(teams: TeamsDouble, **given: Any) -> dict[str, tuple[str, str]]:
    """State and text of each check, by its name."""
    own = {
        "teams_app_id": teams.app_id,
        "teams_app_password": teams.app_password,
        "teams_app_tenant": teams.world.first_tenant,
        "teams_login_url": teams.login_url,
        "teams_openid_url": teams.openid_url,
        "teams_admins": OTHER,
        "public_url": "https://kb.example.com",
    }
    checks = await examine_teams(config(**own | given))
    assert all(check.topic == "Teams" for check in checks)
    assert len({check.name for check in checks}) == len(checks)
    return {check.name: (check.state, f"{check.detail} {check.advice}") for check in checks}


async def test_doctor_is_content(teams: TeamsDouble) -> None:
    found = await lines(teams)
    assert {state for state, _ in found.values()} == {"fine"}
    assert "https://kb.example.com/api/messages" in found["Messaging endpoint"][1]


async def test_doctor_says_what_to_do_where_nothing_is_set() -> None:
    (check,) = await examine_teams(config())
    assert (check.state, check.advice) == ("note", "To connect it: docs/teams.md")


async def test_doctor_tells_settings_that_cannot_work() -> None:
    (check,) = await examine_teams(config(teams_app_id=APP))
    assert check.state == "problem"


async def test_doctor_notes_that_the_playground_has_no_credentials() -> None:
    (check,) = await examine_teams(config(**PLAYGROUND))
    assert check.state == "note"


@pytest.mark.parametrize(
    ("call", "fault", "given", "name", "told"),
    [
        ("", None, {"teams_app_password": "old"}, "TEAMS_APP_ID", "invalid_client.*Secrets expire"),
        ("", None, {"teams_app_tenant": OTHER}, "TEAMS_APP_ID", "invalid_request.*TEAMS_APP_TENANT"),
        ("token", Breaks(), {}, "TEAMS_APP_ID", "no token"),
        ("keys", Fails(500), {}, "Keys", "can't be had"),
        ("", None, {"public_url": None}, "PUBLIC_URL", "https"),
        ("", None, {"public_url": "http://kb.example.com"}, "PUBLIC_URL", "https"),
        ("", None, {"teams_admins": "", "teams_graph": False}, "TEAMS_ADMINS", "nobody is an admin"),
    ],
)
async def test_doctor_tells_what_is_wrong(
    teams: TeamsDouble, call: str, fault: Any, given: dict[str, Any], name: str, told: str
) -> None:
    teams.faults.next(call, *[fault] if fault else [], times=9)
    state, text = (await lines(teams, **given))[name]
    assert state == "problem"
    assert re.search(told, text)


async def test_doctor_notes_that_owners_of_teams_are_admins(teams: TeamsDouble) -> None:
    state, text = (await lines(teams, teams_admins=""))["TEAMS_ADMINS"]
    assert state == "note"
    assert "owners" in text
