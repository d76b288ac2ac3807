"""Questions in Teams while everything goes wrong: does each end in exactly one visible reply?

    python -m bench.teams_faults --activities 2000 --kills 20 --seed 7 [--graph]

`kb serve` runs as its own process against the strict Teams of the tests. People ask in personal chats,
group chats and channel threads; some activities come twice or after later ones, some calls are answered
429, 412, 502 or 504, and the process is killed and started again at random moments. Some answers take a
second, so that kills meet streams and placeholders. At the end everything is looked at: `silent` have no
reply, `doubled` more than one though the process lived, `unfinished` one that is none.

A process that is killed between a post and its record can't know of it, unless Graph may be asked
(`--graph`): replies that are doubled so are counted apart, as `in the gap`, and messages that said that an
answer is on its way, as `left over`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import AsyncExitStack
from itertools import pairwise
from json import dumps
from pathlib import Path

from bench.serving import Served, acknowledged, free_port, with_slow_model
from bench.slack_faults import QUESTIONS, fill
from bench.slow_model import slow_model
from bot.config import Config
from tests.doubles.teams import BAD_GATEWAY, GATEWAY_TIMEOUT, PRECONDITION, RateLimited, Seen, TeamsDouble

_TURN = re.compile(r'"turn": "(m[0-9a-f]+)"|Reference: (m[0-9a-f]+)')
#: Calls that are spoiled: those that people see something of.
_SPOILED = frozenset({"send", "update", "delete", "member", "graph"})


def turn_of(seen: Seen) -> str | None:
    """The turn that a finished reply names, on its card."""
    found = _TURN.search(dumps(seen.cards)) or _TURN.search(seen.words)
    return None if found is None or seen.final is False else found[1] or found[2]


def judge(teams: TeamsDouble, asked: list[tuple[str, str | None]], kills: list[float]) -> Counter[str]:
    """`asked` as (conversation, root). One turn a question: its replies are known by their card."""
    counts: Counter[str] = Counter()
    questions = Counter(asked)
    for (conversation, root), number in questions.items():
        finals: dict[str, list[Seen]] = defaultdict(list)
        for seen in teams.answers(conversation, root):
            turn = turn_of(seen)
            if turn is None:
                # Posted just before a kill: no process knows of it.
                lost = any(0 <= at - seen.message.created <= 3 for at in kills)
                counts["left over" if lost else "unfinished"] += 1
            else:
                finals[turn].append(seen)
                counts["apologies"] += "Something went wrong" in seen.words
        counts["replies"] += len(finals)
        counts["silent"] += max(0, number - len(finals))
        counts["too many"] += max(0, len(finals) - number)
        for again in finals.values():
            for first, second in pairwise(again):
                created = first.message.created, second.message.created
                between = any(created[0] - 5 <= at <= created[1] for at in kills)
                counts["in the gap" if between else "doubled"] += 1
    return counts


def answered(teams: TeamsDouble) -> int:
    return sum(
        1 for call in teams.calls_of("send") if call.error is None and call.body.get("type") == "message"
    )


async def run(activities: int, kills: int, seed: int, slow: float, graph: bool) -> Counter[str]:
    rng = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="footnote-teams-faults-"))
    async with AsyncExitStack() as stack:
        teams = await stack.enter_async_context(TeamsDouble())
        model = await stack.enter_async_context(slow_model(1.2, slow))
        world = teams.world
        people = [world.add_person(f"Person {number}").aad for number in range(30)]
        team = world.add_team("Everybody", *people, rsc=graph)
        channels = [team.id, *(world.add_channel(f"c{n}", team.id).id for n in range(9))]
        groups = [world.add_chat(f"group {n}", *people, rsc=graph).id for n in range(12)]
        port = free_port()
        environment = with_slow_model(folder, port, model) | {
            "TEAMS_APP_ID": teams.app_id, "TEAMS_APP_PASSWORD": teams.app_password,
            "TEAMS_APP_TYPE": "MultiTenant", "TEAMS_LOGIN_URL": teams.login_url,
            "TEAMS_OPENID_URL": teams.openid_url, "TEAMS_GRAPH_URL": teams.graph_url,
            "TEAMS_GRAPH": str(graph),
        }  # fmt: skip
        os.environ.update(environment)
        await fill(Config(), "teams", world.first_tenant)
        served = Served(environment, folder / "log", port)
        await served.start()
        teams.outbox.url = f"http://127.0.0.1:{port}/api/messages"
        # Teams waits and tries again for a while; a start takes seconds here.
        teams.outbox.retry_after = (0.0, 4.0, 20.0)
        teams.outbox.at_random(seed, duplicates=0.10, reorders=0.05)
        teams.faults.at_random(
            seed,
            *[(0.0125, fault) for fault in (RateLimited(1), RateLimited(None))],
            *[(0.008, fault) for fault in (PRECONDITION, BAD_GATEWAY, GATEWAY_TIMEOUT)],
            only=_SPOILED,
        )
        began, killed = time.monotonic(), list[float]()
        asked: list[tuple[str, str | None]] = []
        roots: list[tuple[str, str]] = []
        kill_at = sorted(rng.sample(range(activities // 50, activities), kills)) if kills else []
        for number in range(activities):
            person, text, chance = rng.choice(people), rng.choice(QUESTIONS), rng.random()
            if chance < 0.35:
                place = world.personal(person).id
                teams.say(place, person, text)
                asked.append((place, None))
            elif chance < 0.55:
                place = rng.choice(groups)
                teams.say(place, person, f"{teams.at_bot} {text}")
                asked.append((place, None))
            elif chance < 0.75 and roots:
                place, root = rng.choice(roots[-20:])
                teams.say(place, person, f"{teams.at_bot} {text}", thread=root)
                asked.append((place, root))
            else:
                place = rng.choice(channels)
                root = teams.say(place, person, f"{teams.at_bot} {text}")
                roots.append((place, root))
                asked.append((place, root))
            if kill_at and number == kill_at[0]:
                kill_at.pop(0)
                await asyncio.sleep(rng.random())
                await served.kill()
                killed.append(teams.clock.now())
                await served.start()
            await asyncio.sleep(rng.expovariate(25))
            while len(asked) - answered(teams) > 60:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            if number % 250 == 249:
                print(
                    f"{number + 1} asked, {answered(teams)} posts, {time.monotonic() - began:.0f} s",
                    flush=True,
                )
        await teams.outbox.settled()
        for lost in list(teams.outbox.lost):
            await teams.outbox.again(lost)
        waited = time.monotonic()
        while time.monotonic() - waited < 300 and judge(teams, asked, killed)["silent"]:  # noqa: ASYNC110
            await asyncio.sleep(2)
        teams.faults.clear()
        await asyncio.sleep(5)
        await served.kill(signal.SIGTERM)
        counts = judge(teams, asked, killed)
        log = (folder / "log").read_text()
        counts["posted again"] = log.count('"teams_post_repeated"')
        counts["errors logged"] = log.count('"level": "error"')
        counts["refused by rule"] = len(teams.refusals)
        print(f"{len(asked)} activities, {kills} kills, {time.monotonic() - began:.0f} s; log in {folder}")
        tries = (one for delivery in teams.outbox.deliveries for one in delivery.attempts)
        print(acknowledged(tries))
        for why, times in Counter(refusal[:100] for refusal in teams.refusals).most_common(5):
            print(f"refused {times} times: {why}")
        return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--activities", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--slow", type=float, default=0.3, help="share of answers that take 1.2 s")
    parser.add_argument("--graph", action="store_true", help="teams and chats consented")
    asked = parser.parse_args()
    counts = asyncio.run(run(asked.activities, asked.kills, asked.seed, asked.slow, asked.graph))
    wrong = ("silent", "doubled", "too many", "unfinished")
    others = (
        "in the gap",
        "left over",
        "posted again",
        "apologies",
        "replies",
        "errors logged",
        "refused by rule",
    )
    print(" ".join(f"{name}={counts[name]}" for name in (*wrong, *others)))
    sys.exit(any(counts[name] for name in wrong))


if __name__ == "__main__":
    main()
