"""Installations at rest, and how they end."""

from __future__ import annotations

import asyncio
import json
from itertools import permutations
from typing import Any

import pytest
from cryptography.fernet import Fernet
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio import Redis
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.oauth.installation_store import Installation

from adapters.slack import uninstall
from adapters.slack.encryption import Encryption, Unreadable
from adapters.slack.installations import Installations, event_time
from adapters.slack.states import EXPIRES, States
from bot.notes import NoteStore
from tests.doubles.slack import signed

OLD, NEW, OTHER = (Fernet.generate_key().decode() for _ in range(3))
SECRET = "signing-secret"


@pytest.fixture
def notes(redis: Redis) -> NoteStore:
    return NoteStore(redis)


@pytest.fixture
def store(notes: NoteStore) -> Installations:
    return Installations(notes, Encryption([NEW, OLD]))


def installation(**more: Any) -> Installation:
    made: dict[str, Any] = {
        "app_id": "A1",
        "team_id": "T1",
        "bot_token": "xoxb-secret",
        "bot_id": "B1",
        "bot_user_id": "UB",
        "bot_scopes": ["chat:write", "commands"],
        "bot_refresh_token": "xoxe-secret",
        "bot_token_expires_at": 2_000_000_000,
        "user_id": "U1",
        "installed_at": 1000.25,
    }
    return Installation(**made | more)


async def token(store: Installations, team: str | None = "T1", enterprise: str | None = None) -> str | None:
    bot = await store.async_find_bot(
        enterprise_id=enterprise, team_id=team, is_enterprise_install=team is None
    )
    return bot.bot_token if bot else None


# -- keeping -----------------------------------------------------------------------------------


async def test_what_is_saved_is_found_whole(store: Installations) -> None:
    saved = installation(custom_values={"a": 1})
    await store.async_save(saved)
    found = await store.async_find_installation(enterprise_id=None, team_id="T1", user_id="U1")
    assert found
    assert vars(found) == vars(saved)
    bot = await store.async_find_bot(enterprise_id=None, team_id="T1")
    assert bot
    assert vars(bot) == vars(saved.to_bot())
    assert await token(store, "T2") is None
    assert await store.async_find_installation(enterprise_id=None, team_id="T1", user_id="U2") is None


async def test_no_token_can_be_read_in_the_store(store: Installations, redis: Redis) -> None:
    await store.async_save(installation(user_token="xoxp-secret"))
    kept = [str(value) for key in await redis.keys() for value in await redis.hvals(key)]
    assert kept
    assert not any("secret" in value for value in kept)


async def test_several_people_install_and_the_newest_token_is_used(store: Installations) -> None:
    await store.async_save(installation(user_id="U1", bot_token="xoxb-1", installed_at=1.0))
    await store.async_save(installation(user_id="U2", bot_token="xoxb-2", installed_at=2.0))
    for user in ("U1", "U2"):
        found = await store.async_find_installation(enterprise_id=None, team_id="T1", user_id=user)
        assert found
        assert (found.user_id, found.bot_token) == (user, "xoxb-2")
    newest = await store.async_find_installation(enterprise_id=None, team_id="T1")
    assert newest
    assert newest.user_id == "U2"
    await store.async_delete_installation(enterprise_id=None, team_id="T1", user_id="U2")
    left = await store.async_find_installation(enterprise_id=None, team_id="T1")
    assert left
    assert left.user_id == "U1"
    assert await token(store) == "xoxb-2"


async def test_an_organisation_and_its_teams_are_apart(store: Installations) -> None:
    org = installation(enterprise_id="E1", team_id=None, is_enterprise_install=True, bot_token="xoxb-org")
    await store.async_save(org)
    await store.async_save(installation(enterprise_id="E1", team_id="T1", bot_token="xoxb-team"))
    assert await token(store, None, "E1") == "xoxb-org"
    assert await token(store, "T1", "E1") == "xoxb-team"
    await store.async_delete_all(enterprise_id="E1", team_id="T1")
    assert await token(store, "T1", "E1") is None
    assert await token(store, None, "E1") == "xoxb-org"


async def test_a_team_is_found_when_it_has_moved_into_an_organisation(store: Installations) -> None:
    await store.async_save(installation())
    assert await token(store, "T1", "E1") == "xoxb-secret"


# -- keys --------------------------------------------------------------------------------------


async def test_an_old_key_reads_and_the_first_key_writes_anew(notes: NoteStore) -> None:
    await Installations(notes, Encryption([OLD])).async_save(installation())
    both, new = Installations(notes, Encryption([NEW, OLD])), Installations(notes, Encryption([NEW]))
    assert await token(new) is None
    assert await asyncio.gather(*(token(both) for _ in range(5))) == ["xoxb-secret"] * 5
    assert await token(new) == "xoxb-secret"
    assert await new.async_find_installation(enterprise_id=None, team_id="T1", user_id="U1")


async def test_without_the_key_an_installation_is_as_if_it_were_not_there(notes: NoteStore) -> None:
    await Installations(notes, Encryption([OTHER])).async_save(installation())
    store = Installations(notes, Encryption([NEW]))
    assert await token(store) is None
    await store.uninstalled(None, "T1", at=2000.0)
    await store.async_save(installation())
    assert await token(store) == "xoxb-secret"


async def test_a_token_cannot_be_moved_to_another_team_or_person(
    store: Installations, notes: NoteStore
) -> None:
    await store.async_save(installation())
    note = await notes.read("slack-installation:T1")
    await notes.write("slack-installation:T2", note)
    assert await token(store, "T2") is None
    await notes.write("slack-installation:T1", {"user:U9": note["user:U1"]})
    assert await store.async_find_installation(enterprise_id=None, team_id="T1", user_id="U9") is None


@pytest.mark.parametrize("keys", [[], ["short"], ["ä" * 44], [NEW, ""]])
def test_what_is_no_key_is_told(keys: list[str]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Encryption(keys)


@given(st.text())
def test_only_what_was_sealed_is_opened(text: str) -> None:
    box = Encryption([NEW, OLD])
    assert box.open(box.seal(text)).text == text
    with pytest.raises(Unreadable):
        box.open(text)


# -- leaving -----------------------------------------------------------------------------------


async def tell(
    app: AsyncApp, event: dict[str, Any], *, enterprise: str | None = None, team: str | None = "T1"
) -> int:
    body = json.dumps(
        {
            "type": "event_callback",
            "event_id": "Ev1",
            "team_id": team,
            "enterprise_id": enterprise,
            "api_app_id": "A1",
            "event_time": int(float(event.get("event_ts", 1500))),
            "event": event,
            "authorizations": [
                {"enterprise_id": enterprise, "team_id": team, "is_enterprise_install": team is None}
            ],
        }
    )
    headers: Any = {"content-type": ["application/json"]}
    headers |= {name: [value] for name, value in signed(SECRET, body).items()}
    return (await app.async_dispatch(AsyncBoltRequest(body=body, headers=headers))).status


@pytest.fixture
def app(store: Installations) -> AsyncApp:
    async def nobody(**_: Any) -> AuthorizeResult:
        raise AssertionError("these events come when there is no token any more")

    app = AsyncApp(signing_secret=SECRET, authorize=nobody)
    uninstall.register(app, store)
    return app


LEFT = {"type": "app_uninstalled", "event_ts": "1500.000100"}
REVOKED = {
    "type": "tokens_revoked",
    "tokens": {"oauth": ["U1"], "bot": ["UB"]},
    "event_ts": "1500.000200",
}


@pytest.mark.parametrize("order", sorted(set(permutations("LLRR")), key=str))
async def test_leaving_comes_in_any_order_and_twice(
    store: Installations, notes: NoteStore, app: AsyncApp, order: tuple[str, ...]
) -> None:
    await store.async_save(installation())
    await store.async_save(installation(user_id="U2"))
    for letter in order:
        assert await tell(app, LEFT if letter == "L" else REVOKED) == 200
    assert await notes.read("slack-installation:T1") == {}


@pytest.mark.parametrize("event", [LEFT, REVOKED])
async def test_a_late_event_leaves_a_new_installation_alone(
    store: Installations, app: AsyncApp, event: dict[str, Any]
) -> None:
    await store.async_save(installation(bot_token="xoxb-new", installed_at=1500.5))
    assert await tell(app, event) == 200
    assert await token(store) == "xoxb-new"
    assert await store.async_find_installation(enterprise_id=None, team_id="T1", user_id="U1")


async def test_one_persons_token_ends_and_the_bot_stays(store: Installations, app: AsyncApp) -> None:
    await store.async_save(installation())
    await store.async_save(installation(user_id="U2"))
    await tell(app, {"type": "tokens_revoked", "tokens": {"oauth": ["U1"]}})
    assert await token(store) == "xoxb-secret"
    assert await store.async_find_installation(enterprise_id=None, team_id="T1", user_id="U1") is None
    assert await store.async_find_installation(enterprise_id=None, team_id="T1", user_id="U2")


async def test_an_organisation_leaves_as_a_whole(store: Installations, app: AsyncApp) -> None:
    org = installation(enterprise_id="E1", team_id=None, is_enterprise_install=True)
    await store.async_save(org)
    await store.async_save(installation(enterprise_id="E1"))
    assert await tell(app, LEFT, enterprise="E1", team=None) == 200
    assert await token(store, None, "E1") is None
    assert await token(store, "T1", "E1") == "xoxb-secret"


async def test_an_event_that_could_not_be_followed_is_told_again(
    store: Installations, app: AsyncApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise OSError

    monkeypatch.setattr(store, "uninstalled", broken)
    assert await tell(app, LEFT) == 500


@given(st.dictionaries(st.sampled_from(["event_ts", "ts"]), st.one_of(st.none(), st.text(), st.integers())))
def test_the_time_of_any_event_is_a_number(event: dict[str, Any]) -> None:
    assert isinstance(event_time({"event": event, "event_time": 7}), float)


# -- states ------------------------------------------------------------------------------------


async def test_a_state_works_once(notes: NoteStore, redis: Redis) -> None:
    states = States(notes, Encryption([NEW]))
    state = await states.async_issue()
    assert await redis.dbsize() == 0  # those who only look cost nothing
    assert sorted(await asyncio.gather(*(states.async_consume(state) for _ in range(5)))) == [False] * 4 + [
        True
    ]
    assert not await states.async_consume(state)


async def test_a_state_lives_ten_minutes(notes: NoteStore) -> None:
    now = [1_000_000.0]
    states = States(notes, Encryption([NEW]), clock=lambda: now[0])
    early, late = await states.async_issue(), await states.async_issue()
    now[0] += EXPIRES - 1
    assert await states.async_consume(early)
    now[0] += 2
    assert not await states.async_consume(late)


async def test_a_foreign_state_is_refused(notes: NoteStore) -> None:
    box = Encryption([NEW])
    states = States(notes, box)
    foreign = await States(notes, Encryption([OTHER])).async_issue()
    for state in (
        "",
        "x",
        "ä",
        "=" * 9,
        foreign,
        box.seal("{}"),
        box.seal("bot:a:1"),
        box.seal("state:a:b"),
    ):
        assert not await states.async_consume(state)
