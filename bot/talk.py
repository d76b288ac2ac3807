"""A conversation at a terminal."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

from rich.console import Console

from adapters.conversation import Message, Turn
from adapters.ports import Actor, Answers
from bot import demo, terminal


def turn_of(actor: Actor, text: str, history: tuple[Message, ...] = ()) -> Turn:
    return Turn(
        id=uuid.uuid4().hex,
        workspace=actor.workspace,
        conversation=actor.conversation,
        asker=actor.person,
        text=text,
        history=history,
    )


async def converse(out: Console, answers: Answers, actor: Actor) -> int:
    """The demo's question, then those from the terminal until it closes; how many came from there."""
    history: tuple[Message, ...] = ()
    count = -1
    out.print("\nAsk a question, or end with Ctrl-D.")
    out.print(f"\n[bold]>[/] {demo.QUESTION}")

    async def asked() -> AsyncIterator[str]:
        yield demo.QUESTION
        async for question in terminal.questions(out):
            yield question

    async for question in asked():
        count += 1
        turn = turn_of(actor, question, history)
        reply = await terminal.show_answer(out, answers.answer(turn))
        if reply is not None:
            before = Message(id=turn.id, role="person", author=actor.person, text=question)
            after = Message(id=f"{turn.id}/reply", role="assistant", text=reply.text, turn_id=turn.id)
            history = (*history, before, after)[-20:]
    return count
