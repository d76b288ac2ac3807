"""A bot that answers by a script, over the real inbox, notes and transcript."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.conversation import Reply, ReplyEvent, Turn
from adapters.ports import Actor, Manner
from tests.adapters.fake_bot import FakeBot

#: What a turn is answered with: events, exceptions to raise, `asyncio.Event`s to wait for.
Script = Callable[[Turn], Sequence[Any]]


def answer_of(turn: Turn, text: str | None = None, **more: Any) -> Reply:
    return Reply(turn_id=turn.id, kind="answer", text=text or f"Answer to: {turn.text}", **more)


@dataclass
class ScriptedBot(FakeBot):
    """Answers by `script`, and remembers like the real one: the same turn again is the stored reply."""

    script: Script = lambda turn: [answer_of(turn)]
    told: dict[str, Reply] = field(default_factory=dict[str, Reply])
    follow: Callable[[Turn, bool], Manner] = lambda turn, addressed: Manner(
        answers=addressed or turn.text.endswith("?")
    )
    #: Turns that ran to their reply, by id.
    worked: list[str] = field(default_factory=list[str])

    async def manner(self, turn: Turn, *, addressed: bool) -> Manner:
        return self.follow(turn, addressed)

    async def of(self, platform: str, tenant: str) -> str:
        return f"{platform}-{tenant}".lower()

    async def reply(self, actor: Actor, turn_id: str) -> Reply | None:
        return self.told.get(turn_id)

    async def answer(self, turn: Turn) -> AsyncIterator[ReplyEvent]:
        self.asked.append(turn)
        if turn.id in self.told:
            yield self.told[turn.id]
            return
        for event in self.script(turn):
            if isinstance(event, Exception):
                raise event
            if isinstance(event, asyncio.Event):
                await event.wait()
                continue
            if isinstance(event, Reply):
                self.told[turn.id] = event
                self.worked.append(turn.id)
            yield event
