"""Sending activities to the bot as Teams does it: with a signed token, again when it doesn't answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

import aiohttp

from tests.doubles.teams import limits
from tests.doubles.teams.errors import Json

if TYPE_CHECKING:
    from tests.doubles.teams.core import Core


@dataclass(frozen=True, slots=True)
class Attempt:
    """`seconds` is the time to acknowledge; `failed` says why the next try comes, or is None."""

    at: float
    seconds: float
    status: int
    failed: str | None


@dataclass
class Delivery:
    """An activity that the bot is told, with each attempt; `answer` is the body of the last answer."""

    activity: Json
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    answer: Any = None

    @property
    def acknowledged(self) -> bool:
        return bool(self.attempts) and self.attempts[-1].failed is None

    @property
    def status(self) -> int:
        return self.attempts[-1].status if self.attempts else 0


class Outbox:
    """`auto`: activities go out by themselves, and again after `retry_after` seconds; else `deliver` sends.

    Teams sends again what was not answered within 15 seconds; a test has no time for that.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        #: The bot's endpoint, ".../api/messages".
        self.url: str | None = None
        self.auto = True
        self.retry_after: tuple[float, ...] = (0.0, 0.05, 0.25)
        self.ack_seconds = limits.ACK_SECONDS
        self.invoke_seconds = limits.INVOKE_SECONDS
        #: Everything that the bot was told, in the order in which it came about.
        self.deliveries: list[Delivery] = []
        #: What no attempt is made for any more.
        self.lost: list[Delivery] = []
        #: The Authorization header of what is sent.
        self.authorization: Callable[[Json], str | None] = core.authorization
        self._waiting: list[Delivery] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._random: Random | None = None
        self._duplicates = self._reorders = 0.0
        self._session: aiohttp.ClientSession | None = None

    def at_random(self, seed: int, *, duplicates: float = 0.0, reorders: float = 0.0) -> None:
        """Some activities come twice, some after the next one."""
        self._random, self._duplicates, self._reorders = Random(seed), duplicates, reorders

    def add(self, activity: Json) -> Delivery:
        made = Delivery(activity)
        self.deliveries.append(made)
        if self.auto:
            task = asyncio.create_task(self._deliver(made))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._waiting.append(made)
        return made

    async def deliver(self) -> list[Delivery]:
        """Send what waits, each until it is acknowledged or given up, and wait for what is on its way."""
        work, self._waiting = self._waiting, []
        for number in range(len(work) - 1):
            if self._random is not None and self._random.random() < self._reorders:
                work[number], work[number + 1] = work[number + 1], work[number]
        for one in work:
            await self._deliver(one)
        await self.settled()
        return work

    async def settled(self) -> None:
        """Until nothing is on its way."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def again(self, delivery: Delivery) -> Attempt:
        """The same activity once more, as when an acknowledgement was lost on the way."""
        return await self._attempt(delivery, self.ack_seconds)

    async def _deliver(self, delivery: Delivery) -> None:
        random = self._random
        if random is not None and self.auto and random.random() < self._reorders:
            await asyncio.sleep(0.02 + 0.2 * random.random())
        for wait in (0.0, *self.retry_after):
            await asyncio.sleep(wait if self.auto else 0)
            if (await self._attempt(delivery, self.ack_seconds)).failed is None:
                if random is not None and random.random() < self._duplicates:
                    await self._attempt(delivery, self.ack_seconds)
                return
        self.lost.append(delivery)

    async def invoke(self, activity: Json) -> Delivery:
        """One attempt, whose answer somebody waits for."""
        made = Delivery(activity)
        self.deliveries.append(made)
        await self._attempt(made, self.invoke_seconds)
        return made

    async def _attempt(self, delivery: Delivery, most: float) -> Attempt:
        at, began = self._core.clock.now(), time.monotonic()
        status, failed, answer = 0, None, None
        try:
            status, answer = await self.post(
                delivery.activity, self.authorization(delivery.activity), seconds=most
            )
            failed = None if 200 <= status < 300 else "http_error"
        except TimeoutError:
            failed = "timeout"
        except (aiohttp.ClientError, OSError):
            failed = "connection_failed"
        made = Attempt(at, time.monotonic() - began, status, failed)
        delivery.attempts.append(made)
        if failed != "timeout":
            delivery.answer = answer
        return made

    async def post(
        self,
        body: Json | bytes,
        authorization: str | None,
        *,
        content_type: str = "application/json; charset=utf-8",
        seconds: float = 15.0,
    ) -> tuple[int, Any]:
        """Any request to the bot's endpoint. Gives status and body: JSON, text, or None."""
        assert self.url is not None, "tell where the bot is: teams.outbox.url"
        if self._session is None:
            self._session = aiohttp.ClientSession()
        headers = {
            "Content-Type": content_type,
            "User-Agent": "Microsoft-SkypeBotApi (Microsoft-BotFramework/3.0)",
        }
        if authorization is not None:
            headers["Authorization"] = authorization
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        timeout = aiohttp.ClientTimeout(total=seconds)
        async with self._session.post(self.url, data=data, headers=headers, timeout=timeout) as response:
            text = await response.text()
            if not text:
                return response.status, None
            if response.content_type == "application/json":
                return response.status, json.loads(text)
            return response.status, text

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))
        if self._session is not None:
            await self._session.close()
            self._session = None
