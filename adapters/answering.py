"""From a turn to its one reply, shown while it comes: the same on every platform."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from typing import Final, Protocol, cast

import structlog

from adapters.conversation import Delta, Reply, ReplyEvent, Turn, Working
from adapters.durable import Incoming
from adapters.ports import Actor, Answers

log = structlog.get_logger()

#: After that many beginnings of one question it is not worked again: it may be what kills the process.
TRIES: Final = 3
_WRONG: Final = "Something went wrong on my side. Please ask again."
_STOPPED: Final = "Stopped, as you asked."


class Presenter(Protocol):
    """Shows one answer while it is written."""

    def show(self, event: Working | Delta) -> None: ...

    async def end(self) -> None:
        """Stop showing; nothing is changed any more after that. Raises nothing."""
        ...


class Running:
    """The questions that are worked in this process, so that a person can stop them."""

    def __init__(self) -> None:
        self._lanes: dict[str, asyncio.Event] = {}

    def stop(self, lane: str) -> None:
        """A person pressed stop. Nothing happens where this process works no question there."""
        if (stopped := self._lanes.get(lane)) is not None:
            stopped.set()

    @contextmanager
    def question(self, lane: str) -> Generator[asyncio.Event]:
        """While a question of that lane is worked; the event is set when it shall stop."""
        stopped = asyncio.Event()
        self._lanes[lane] = stopped
        try:
            yield stopped
        finally:
            del self._lanes[lane]


def apology(incoming: Incoming) -> Reply:
    return Reply(turn_id=incoming.id, kind="apology", text=_WRONG, reference=incoming.id)


async def reply_to(
    answers: Answers,
    incoming: Incoming,
    turn: Turn | None,
    *,
    presenter: Presenter,
    stopped: asyncio.Event,
) -> Reply:
    """The bot's reply; what it had said so far where a person stops it. `turn` is None where the question
    could not be read."""
    if turn is None:
        return apology(incoming)
    if incoming.starts > TRIES:
        # Answered before, and not delivered while the platform was away; else it may be what kills.
        actor = Actor(workspace=turn.workspace, person=turn.asker, conversation=turn.conversation)
        return await answers.reply(actor, incoming.id) or apology(incoming)
    said: list[str] = []
    try:
        async with aclosing(until_stopped(answers, turn, stopped)) as events:
            async for event in events:
                if isinstance(event, Reply):
                    return event
                if isinstance(event, Delta):
                    said.append(event.text)
                presenter.show(event)
    finally:
        await presenter.end()
    log.info("turn_stopped")
    text = "".join(said).strip()
    return Reply(
        turn_id=turn.id, kind="notice", text=text or _STOPPED, notes=(_STOPPED,) if text else ()
    )  # fmt: skip


async def unseen(answers: Answers, incoming: Incoming, turn: Turn) -> Reply:
    """The reply without showing it on the way."""
    if incoming.starts <= TRIES:
        async for event in answers.answer(turn):
            if isinstance(event, Reply):
                return event
    return apology(incoming)


async def until_stopped(answers: Answers, turn: Turn, stopped: asyncio.Event) -> AsyncGenerator[ReplyEvent]:
    """The answer's events until a person presses stop."""
    stop = asyncio.create_task(stopped.wait())
    answer = cast("AsyncGenerator[ReplyEvent]", answers.answer(turn))
    try:
        while True:
            following = asyncio.ensure_future(anext(answer))
            try:
                await asyncio.wait([following, stop], return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not following.done():
                    following.cancel()
                    await asyncio.wait([following])
            if following.cancelled():
                return
            try:
                yield following.result()
            except StopAsyncIteration:
                return
    finally:
        stop.cancel()
        await answer.aclose()
