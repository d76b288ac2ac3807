"""The Teams app as Teams is told about it."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, validators
from typer.testing import CliRunner

from adapters.kb import VERBS
from adapters.ports import Refused
from bot import __version__
from bot.cli import app
from bot.teams_commands import package_bytes
from tests.data import DATA

URL = "https://kb.example.com"
APP = "aaaaaaaa-2222-4333-8444-555555555555"
#: Microsoft's own, beside the evaluation data.
SCHEMA = DATA.parent / "schemas" / "teams-manifest-1.29.schema.json" if DATA else Path("missing")


def unpacked(**more: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(package_bytes(URL, APP, **more))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(files["manifest.json"]), files


@pytest.mark.data
@pytest.mark.skipif(not SCHEMA.is_file(), reason="Microsoft's schema is not beside the data")
@pytest.mark.parametrize("more", [{}, {"developer": "Contoso", "privacy_url": "https://c.example/privacy"}])
def test_the_manifest_fits_microsofts_schema(more: dict[str, str]) -> None:
    schema = json.loads(SCHEMA.read_text("utf-8-sig"))
    checker: Any = validators.validator_for(schema, Draft7Validator)
    made, _ = unpacked(**more)
    assert [error.message for error in checker(schema).iter_errors(made)] == []


def test_what_is_particular_stands_everywhere() -> None:
    made, _ = unpacked()
    assert made["id"] == made["bots"][0]["botId"] == made["webApplicationInfo"]["id"] == APP
    assert made["composeExtensions"][0]["botId"] == APP
    assert made["validDomains"] == ["kb.example.com"]
    assert made["version"] == __version__
    assert not re.search(r'"\{\w+\}"', json.dumps(made))


def test_the_icons_have_the_sizes_that_teams_wants() -> None:
    made, files = unpacked()
    for name, side in (("color", 192), ("outline", 32)):
        image = files[made["icons"][name]]
        assert image.startswith(b"\x89PNG")
        assert struct.unpack(">II", image[16:24]) == (side, side)


def test_every_command_that_is_offered_is_one() -> None:
    made, _ = unpacked()
    for commands in made["bots"][0]["commandLists"]:
        for command in commands["commands"]:
            assert command["title"].removeprefix("kb ") in VERBS
            assert command["title"].startswith("kb ") == ("personal" not in commands["scopes"])


def test_the_same_app_is_the_same_bytes() -> None:
    assert package_bytes(URL, APP) == package_bytes(f"{URL}/", APP.upper())


@pytest.mark.parametrize(
    ("url", "app_id", "more"),
    [
        ("http://kb.example.com", APP, {}),
        ("https://", APP, {}),
        (URL, "my-app", {}),
        (URL, APP, {"developer": "x" * 33}),
        (URL, APP, {"terms_url": "javascript:alert(1)"}),
    ],
)
def test_what_teams_would_not_take_is_refused(url: str, app_id: str, more: dict[str, str]) -> None:
    with pytest.raises(Refused):
        package_bytes(url, app_id, **more)


def test_the_command_writes_the_file(tmp_path: Path) -> None:
    target = tmp_path / "app.zip"
    result = CliRunner().invoke(app, ["teams-package", "--url", URL, "--app-id", APP, "--to", str(target)])
    assert result.exit_code == 0, result.output
    assert target.read_bytes() == package_bytes(URL, APP)
