"""Sending events, interactions and commands to the app, over HTTP or Socket Mode, as Slack does it."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

import aiohttp

from tests.doubles.slack import limits
from tests.doubles.slack.errors import Json
from tests.doubles.slack.things import Team

if TYPE_CHECKING:
    from tests.doubles.slack.core import Core

Kind = Literal["events_api", "interactive", "slash_commands"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """`seconds` is the time to acknowledge; `failed` is Slack's reason for the next try, or None."""

    number: int
    at: float
    seconds: float
    status: int
    failed: str | None


@dataclass
class Delivery:
    """Something that the app is told, with each attempt to tell it."""

    kind: Kind
    payload: Json
    team: str
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    answer: Any = None

    @property
    def acknowledged(self) -> bool:
        return bool(self.attempts) and self.attempts[-1].failed is None

    @property
    def event(self) -> Json:
        return self.payload.get("event") or {}


def signed(secret: str, body: str, at: float | None = None) -> dict[str, str]:
    """The headers by which the app knows that it is Slack."""
    stamp = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


class Outbox:
    """`auto`: events go out by themselves, with retries after `retry_after` seconds; else `deliver` sends.

    Slack tries again at once, after a minute and after five; a test has no time for that.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self.url: str | None = None
        self.auto = True
        self.retry_after: tuple[float, ...] = (0.0, 0.05, 0.25)
        self.ack_seconds = limits.ACK_SECONDS
        #: Every event, interaction and command, in the order in which they came about.
        self.deliveries: list[Delivery] = []
        #: Events that no attempt is made for any more.
        self.lost: list[Delivery] = []
        self._waiting: list[Delivery] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._random: Random | None = None
        self._duplicates = self._reorders = 0.0
        self._session: aiohttp.ClientSession | None = None

    def at_random(self, seed: int, *, duplicates: float = 0.0, reorders: float = 0.0) -> None:
        """Some events come twice, some after the next one."""
        self._random, self._duplicates, self._reorders = Random(seed), duplicates, reorders

    def add_event(self, team: Team, payload: Json) -> None:
        made = Delivery("events_api", payload, team.id)
        self.deliveries.append(made)
        if self.auto and self._connected:
            self._start(self._deliver(made))
        else:
            self._waiting.append(made)

    def connected(self) -> None:
        """What came about while the app had no connection goes out now."""
        if self.auto:
            work, self._waiting = self._waiting, []
            for one in work:
                self._start(self._deliver(one))

    @property
    def _connected(self) -> bool:
        return self.url is not None or self._core.sockets.ready

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def deliver(self, *, lost: bool = False) -> list[Delivery]:
        """Send what waits, in order, wait for what is on its way, and give what was sent.

        `lost`: try those again, too, that Slack has given up.
        """
        again, self.lost = (self.lost, []) if lost else ([], self.lost)
        work, self._waiting = [*again, *self._waiting], []
        for number in range(len(work) - 1):
            if self._random is not None and self._random.random() < self._reorders:
                work[number], work[number + 1] = work[number + 1], work[number]
        for one in work:
            await self._deliver(one, reorder=False)
        while self._tasks:
            await asyncio.wait(set(self._tasks))
        return work

    async def duplicate(self, delivery: Delivery, *, reason: str = "http_timeout") -> Attempt:
        """The same event once more, as when an acknowledgement was lost on the way."""
        return await self._attempt(delivery, 1, reason)

    async def _deliver(self, delivery: Delivery, *, reorder: bool = True) -> None:
        random = self._random
        if random is not None and reorder and random.random() < self._reorders:
            await asyncio.sleep(0.02 + 0.2 * random.random())
        reason: str | None = None
        for number, wait in enumerate((0.0, *self.retry_after)):
            await asyncio.sleep(wait if self.auto else 0)
            attempt = await self._attempt(delivery, number, reason)
            reason = attempt.failed
            if reason is None:
                if random is not None and random.random() < self._duplicates:
                    await self._attempt(delivery, number + 1, "http_timeout")
                return
        self.lost.append(delivery)

    async def interact(self, kind: Kind, payload: Json, team: Team) -> Delivery:
        """One attempt, as Slack makes it for commands and interactions."""
        made = Delivery(kind, payload, team.id)
        self.deliveries.append(made)
        await self._attempt(made, 0, None)
        return made

    async def _attempt(self, delivery: Delivery, number: int, reason: str | None) -> Attempt:
        at, began = self._core.clock.now(), time.monotonic()
        status, failed, answer = 0, None, None
        try:
            if self.url is not None:
                status, answer = await self._post(self.url, delivery, number, reason)
                failed = None if 200 <= status < 300 else "http_error"
            else:
                answer = await self._core.sockets.send(delivery, number, reason, self.ack_seconds)
                status = 200
        except TimeoutError:
            failed = "http_timeout" if self.url else "timeout"
        except (aiohttp.ClientError, OSError):
            failed = "connection_failed"
        seconds = time.monotonic() - began
        if failed is None and seconds > self.ack_seconds:
            failed = "http_timeout"
        made = Attempt(number, at, seconds, status, failed)
        delivery.attempts.append(made)
        if failed is None:
            delivery.answer = answer
        return made

    async def _post(self, url: str, delivery: Delivery, number: int, reason: str | None) -> tuple[int, Any]:
        if delivery.kind == "events_api":
            body, kind = json.dumps(delivery.payload), "application/json"
        elif delivery.kind == "interactive":
            body = urlencode({"payload": json.dumps(delivery.payload)})
            kind = "application/x-www-form-urlencoded"
        else:
            body, kind = urlencode(delivery.payload), "application/x-www-form-urlencoded"
        headers = {"Content-Type": kind, "User-Agent": "Slackbot 1.0"}
        headers |= signed(self._core.app.signing_secret, body)
        if number:
            headers |= {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason or "http_error"}
        return await self.raw(url, body, headers)

    async def raw(self, url: str, body: str, headers: dict[str, str]) -> tuple[int, Any]:
        """Any request to the app: for wrong signatures and the like. Gives status and body."""
        if self._session is None:
            self._session = aiohttp.ClientSession()
        timeout = aiohttp.ClientTimeout(total=self.ack_seconds)
        async with self._session.post(
            url, data=body.encode(), headers=headers, timeout=timeout
        ) as response:
            text = await response.text()
            if response.content_type == "application/json" and text:
                return response.status, json.loads(text)
            return response.status, text

    async def verify(self, url: str) -> bool:
        """Slack's check of a request URL, when an app is set up."""
        body = json.dumps({"type": "url_verification", "token": "verification", "challenge": "3eZbrw1a"})
        headers = {"Content-Type": "application/json", **signed(self._core.app.signing_secret, body)}
        status, answer = await self.raw(url, body, headers)
        said = answer.get("challenge") if isinstance(answer, dict) else answer
        return status == 200 and said == "3eZbrw1a"

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))
        if self._session is not None:
            await self._session.close()
