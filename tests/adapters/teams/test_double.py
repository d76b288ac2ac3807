"""The stand-in for Teams tells a bot what Teams tells it, and gives tokens out as Entra does."""

from __future__ import annotations

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import Any

import aiohttp
import jwt
import msal
import pytest
import requests

from tests.adapters.teams.small_bot import Bot, Json, bot, teams
from tests.doubles.teams import Fails, RateLimited, TeamsDouble

__all__ = ["bot", "teams"]


async def test_what_is_said_reaches_the_bot_and_its_answers_are_seen(teams: TeamsDouble, bot: Bot) -> None:
    ana = teams.world.add_person("Ana")
    asked = teams.ask(ana.aad, "How long is < 5 & 3 parental leave?")
    await teams.outbox.settled()
    [told] = bot.told
    assert told["id"] == asked
    assert told["conversation"]["conversationType"] == "personal"
    assert told["text"] == "How long is &lt; 5 &amp; 3 parental leave?"
    place = told["conversation"]["id"]

    status, answer = await bot.send(place, text="Twelve weeks.")
    assert status == 201
    status, _ = await bot.call(
        "PUT", f"conversations/{place}/activities/{answer['id']}", {"type": "message", "text": "Fourteen."}
    )
    assert status == 200
    [shown] = teams.answers(place)
    assert (shown.text, shown.edits, shown.by_bot) == ("Fourteen.", 1, True)
    assert (await bot.call("DELETE", f"conversations/{place}/activities/{answer['id']}"))[0] == 200
    assert teams.answers(place) == []
    assert teams.refusals == []


async def test_activities_are_signed_for_this_bot(teams: TeamsDouble, bot: Bot) -> None:
    teams.ask(teams.world.add_person("Ana").aad, "hi")
    await teams.outbox.settled()
    token = bot.headers[0].removeprefix("Bearer ")
    async with bot.session.get(teams.openid_url) as response:
        keys_url = (await response.json())["jwks_uri"]
    async with bot.session.get(keys_url) as response:
        [key] = (await response.json())["keys"]
    assert key["endorsements"] == ["msteams"]
    claims = jwt.decode(token, jwt.PyJWK(key).key, algorithms=["RS256"], audience=teams.app_id)
    assert claims["serviceurl"] == bot.told[0]["serviceUrl"] == teams.url


# -- tokens --------------------------------------------------------------------------------------


async def test_every_bad_header_is_another_fault(teams: TeamsDouble) -> None:
    headers = teams.bad_headers()
    assert len(headers) >= 20
    assert headers["missing"] is None
    assert len(set(headers.values())) == len(headers)
    key = jwt.PyJWK(teams.keys.jwks()["keys"][0]).key
    for what, header in headers.items():
        with pytest.raises((jwt.PyJWTError, AssertionError)):  # noqa: PT012
            kid = jwt.get_unverified_header((header or "").removeprefix("Bearer ")).get("kid")
            assert kid in teams.keys.published, what
            claims = jwt.decode(
                (header or "").removeprefix("Bearer "),
                key,
                algorithms=["RS256"],
                audience=teams.app_id,
                issuer="https://api.botframework.com",
                options={"require": ["exp", "iss", "aud"]},
            )
            assert claims.get("serviceurl") == teams.url, what


async def test_keys_rotate(teams: TeamsDouble, bot: Bot) -> None:
    first = teams.keys.signing
    second = teams.keys.rotate()
    assert [key["kid"] for key in teams.keys.jwks()["keys"]] == [first, second]
    third = teams.keys.rotate(forget=True)
    assert [key["kid"] for key in teams.keys.jwks()["keys"]] == [third]
    header = teams.authorization({"serviceUrl": teams.url}) or ""
    assert jwt.get_unverified_header(header.removeprefix("Bearer "))["kid"] == third


async def ask_token(teams: TeamsDouble, tenant: str, **form: str) -> tuple[int, Json]:
    usual = {
        "grant_type": "client_credentials",
        "client_id": teams.app_id,
        "client_secret": teams.app_password,
        "scope": "https://api.botframework.com/.default",
    }
    url = f"{teams.login_url}/{tenant}/oauth2/v2.0/token"
    async with aiohttp.ClientSession() as session, session.post(url, data=usual | form) as response:
        return response.status, await response.json()


async def test_tokens_are_for_whom_they_were_given(teams: TeamsDouble, bot: Bot) -> None:
    tenant = teams.world.add_tenant().id
    place = teams.world.personal(teams.world.add_person("Ana").aad).id
    status, given = await ask_token(teams, "botframework.com")
    assert status == 200
    bot.token = given["access_token"]
    assert (await bot.send(place, text="hi"))[0] == 201

    status, given = await ask_token(teams, tenant, scope="https://graph.microsoft.com/.default")
    assert status == 200
    bot.token = given["access_token"]
    assert (await bot.send(place, text="hi"))[0] == 401
    for token in (None, "made-up"):
        bot.token = token
        assert (await bot.send(place, text="hi"))[0] == 401
    assert len(teams.refusals) == 3

    bot.token = teams.login.give("connector")
    teams.login.expire("connector")
    assert (await bot.send(place, text="hi"))[0] == 401
    bot.token = teams.login.give("connector")
    teams.clock.advance(3600)
    assert (await bot.send(place, text="hi"))[0] == 401
    assert len(teams.refusals) == 3  # that a token ended is nobody's fault


@pytest.mark.parametrize(
    ("tenant", "form", "status", "error"),
    [
        ("botframework.com", {"client_secret": "other"}, 401, "invalid_client"),
        ("botframework.com", {"client_id": "other"}, 400, "unauthorized_client"),
        ("botframework.com", {"grant_type": "password"}, 400, "unsupported_grant_type"),
        ("botframework.com", {"scope": "https://api.botframework.com"}, 400, "invalid_scope"),
        ("botframework.com", {"scope": "https://vault.azure.net/.default"}, 400, "invalid_scope"),
        ("botframework.com", {"scope": "https://graph.microsoft.com/.default"}, 400, "unauthorized_client"),
        ("nowhere", {}, 400, "invalid_request"),
        ("own", {}, 400, "unauthorized_client"),
    ],
)
async def test_refuses_tokens(
    teams: TeamsDouble, tenant: str, form: dict[str, str], status: int, error: str
) -> None:
    own = teams.world.add_tenant().id
    told = await ask_token(teams, own if tenant == "own" else tenant, **form)
    assert (told[0], told[1]["error"]) == (status, error)


async def test_a_bot_of_one_tenant_gets_its_tokens_there(teams: TeamsDouble) -> None:
    teams.app.tenant = teams.world.add_tenant().id
    assert (await ask_token(teams, teams.app.tenant))[0] == 200
    assert (await ask_token(teams, "botframework.com"))[0] == 400


async def test_msal_gets_a_token(teams: TeamsDouble) -> None:
    """Its authority must be https, so its requests are led to the double."""
    authority = "https://login.example"

    def led(method: str, url: str, **more: Any) -> SimpleNamespace:
        found = requests.request(method, url.replace(authority, teams.login_url), timeout=5, **more)
        text = found.text.replace(teams.login_url, authority)
        return SimpleNamespace(status_code=found.status_code, headers=found.headers, text=text)

    def ask() -> Json:
        client = msal.ConfidentialClientApplication(
            teams.app_id,
            client_credential=teams.app_password,
            authority=f"{authority}/botframework.com",
            instance_discovery=False,
            http_client=SimpleNamespace(get=partial(led, "GET"), post=partial(led, "POST")),
        )
        return client.acquire_token_for_client(["https://api.botframework.com/.default"]) or {}

    assert (await asyncio.to_thread(ask))["access_token"] in teams.login.given


async def test_a_managed_identity_gets_a_token(teams: TeamsDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    teams.app.managed, teams.app.tenant = True, teams.world.add_tenant().id

    def ask() -> Json:
        identity = msal.UserAssignedManagedIdentity(client_id=teams.app_id)
        client = msal.ManagedIdentityClient(identity, http_client=requests.Session())
        return client.acquire_token_for_client(resource="https://api.botframework.com")

    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", teams.login_url)
    assert (await asyncio.to_thread(ask))["access_token"] in teams.login.given
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{teams.login_url}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", teams.login.identity_header)
    assert (await asyncio.to_thread(ask))["access_token"] in teams.login.given
    monkeypatch.setenv("IDENTITY_HEADER", "wrong")
    assert "error" in await asyncio.to_thread(ask)
    assert (await ask_token(teams, teams.app.tenant))[1]["error"] == "invalid_client"


async def test_discovery(teams: TeamsDouble, bot: Bot) -> None:
    asked = f"{teams.login_url}/botframework.com/oauth2/v2.0/authorize"
    url = f"{teams.login_url}/common/discovery/instance"
    async with bot.session.get(url, params={"authorization_endpoint": asked}) as response:
        found = (await response.json())["tenant_discovery_endpoint"]
    async with bot.session.get(found) as response:
        endpoint = (await response.json())["token_endpoint"]
    assert endpoint == f"{teams.login_url}/botframework.com/oauth2/v2.0/token"
    for path, status in (
        ("nowhere/v2.0/.well-known/openid-configuration", 400),
        ("nothing", 404),
        ("openid/nothing", 404),
        ("metadata/identity/oauth2/token", 400),
    ):
        async with bot.session.get(f"{teams.login_url}/{path}") as response:
            assert response.status == status


@pytest.mark.parametrize(
    ("managed", "query"),
    [
        (True, {"resource": "https://vault.azure.net", "api-version": "2018-02-01", "client_id": "own"}),
        (True, {"resource": "https://api.botframework.com", "client_id": "own"}),
        (True, {"resource": "https://api.botframework.com", "api-version": "2018-02-01", "client_id": "x"}),
        (
            False,
            {"resource": "https://api.botframework.com", "api-version": "2018-02-01", "client_id": "own"},
        ),
    ],
)
async def test_refuses_a_managed_identity(
    teams: TeamsDouble, bot: Bot, managed: bool, query: dict[str, str]
) -> None:
    teams.app.managed = managed
    query |= {"client_id": teams.app_id} if query["client_id"] == "own" else {}
    url = f"{teams.login_url}/metadata/identity/oauth2/token"
    async with bot.session.get(url, params=query, headers={"Metadata": "true"}) as response:
        assert response.status == 400


async def test_faults_of_logins_and_keys(teams: TeamsDouble, bot: Bot) -> None:
    teams.faults.next("token", Fails(500), RateLimited(1))
    assert [(await ask_token(teams, "botframework.com"))[0] for _ in range(3)] == [500, 429, 200]
    teams.faults.next("keys", Fails(503))
    for status in (503, 200):
        async with bot.session.get(teams.openid_url) as response:
            assert response.status == status
