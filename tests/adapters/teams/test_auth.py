"""Who is let in: real RS256 tokens over HTTP, and everything that is none."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from adapters.teams import work
from adapters.teams.endpoint import is_local
from tests.adapters.teams.site import Site, World, open_site
from tests.doubles.teams import Fails, TeamsDouble


def activity(teams: TeamsDouble, world: World) -> dict[str, Any]:
    """What Teams would send, without sending it."""
    teams.say(world.direct, world.ann, "How often?")
    return teams.outbox._waiting.pop().activity  # pyright: ignore[reportPrivateUsage]


async def test_every_bad_token_is_401_and_nothing_is_processed(site: Site, world: World) -> None:
    sent = activity(site.teams, world)
    for name, header in site.teams.bad_headers().items():
        status, _ = await site.teams.outbox.post(sent, header)
        assert status == 401, name
    await site.settle()
    assert site.bot.asked == []
    assert site.answers(world.direct) == []
    assert site.teams.calls == []
    assert await site.inbox.waiting(work.PLATFORM) == 0


async def test_a_bad_token_is_told_before_a_bad_body(site: Site) -> None:
    for body, kind in ((b"junk", "application/json"), (b"junk", "text/plain"), (b"{}", "application/json")):
        status, _ = await site.teams.outbox.post(body, "Bearer x.y.z", content_type=kind)
        assert status == 401


async def test_what_is_no_activity(site: Site, world: World) -> None:
    sent = activity(site.teams, world)
    good = site.teams.authorization(sent)
    post = site.teams.outbox.post
    assert (await post(b"{}", good, content_type="text/plain"))[0] == 415
    assert (await post(b"[]", good))[0] == 400
    assert (await post(b"{", good))[0] == 400
    assert (await post(b"[" * 100_000, good))[0] == 400
    assert (await post({**sent, "conversation": None}, good))[0] == 400
    assert (await post(b" " * (1 << 20) + b"{}", good))[0] == 413
    # Without a serviceUrl it can't be the activity that the token stands for.
    assert (await post({}, good))[0] == 401
    assert site.bot.asked == []


async def test_without_credentials_only_this_machine_is_believed() -> None:
    for remote in ("127.0.0.1", "::1", "127.8.8.8"):
        assert is_local(remote)
    for remote in ("10.0.0.1", "0.0.0.0", "kb.example.com", "", None):
        assert not is_local(remote)


async def test_tenants_that_are_not_listed_are_not_served(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path
) -> None:
    async with open_site(redis, teams, tmp_path, allowed_tenants=frozenset({"another"})) as site:
        sent = activity(teams, world)
        status, _ = await teams.outbox.post(sent, teams.authorization(sent))
        assert status == 403
        assert site.bot.asked == []


async def test_a_new_key_is_fetched_when_it_is_first_seen(
    site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.teams.auth.ASK_AGAIN", 0.0)
    site.teams.keys.rotate()
    await site.ask(world.direct, world.ann, "How often?")
    assert len(site.answers(world.direct)) == 1


async def test_made_up_key_ids_cause_no_storm_of_fetches(site: Site, world: World) -> None:
    sent = activity(site.teams, world)
    before = site.teams.keys.jwks_fetches
    unknown = next(header for name, header in site.teams.bad_headers().items() if name == "unknown kid")
    statuses = await asyncio.gather(*[site.teams.outbox.post(sent, unknown) for _ in range(50)])
    assert {status for status, _ in statuses} == {401}
    assert site.teams.keys.jwks_fetches - before <= 2


async def test_keys_that_can_not_be_had_keep_the_old_ones(
    site: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.teams.auth.FRESH", -1.0)
    monkeypatch.setattr("adapters.teams.auth.ASK_AGAIN", 0.0)
    site.teams.faults.next("keys", Fails(500), times=20)
    await site.ask(world.direct, world.ann, "How often?")
    assert len(site.answers(world.direct)) == 1
