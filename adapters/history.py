"""How much of a thread goes with a question: a budget of tokens, and what is kept when it is not enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adapters.conversation import Message

#: Estimated tokens that a thread's older messages may have together.
BUDGET: Final = 4_000
#: Messages looked at.
MOST: Final = 200
#: Characters of one token.
_NARROW, _WIDE = 0.25, 1.0


def reply_id(turn_id: str, part: int = 0) -> str:
    """Id of one of the bot's own answers in a transcript; parts only where the whole is not kept."""
    return f"reply:{turn_id}:{part}" if part else f"reply:{turn_id}"


def _cost(char: str) -> float:
    return _WIDE if ord(char) > 0x2E80 else _NARROW


def tokens(text: str) -> int:
    """An estimate: four characters of an alphabet, or one of another script; and who said it."""
    return int(sum(map(_cost, text))) + 4


def within(messages: Sequence[Message], root: str | None, budget: int = BUDGET) -> tuple[Message, ...]:
    """The root and the newest messages that fit the budget, at least the newest one. Where these two are
    too long by themselves, they are cut; the root may have half."""
    first = [_cut(message, budget // 2) for message in messages if message.id == root]
    left = budget - sum(tokens(message.text) for message in first)
    newest: list[Message] = []
    for message in reversed([message for message in messages if message.id != root]):
        fitting = message if newest else _cut(message, left)
        left -= tokens(fitting.text)
        if left < 0 and newest:
            break
        newest.append(fitting)
    return (*first, *reversed(newest))


def _cut(message: Message, most: int) -> Message:
    if tokens(message.text) <= most:
        return message
    left, end = most - 5.0, 0
    while end < len(message.text) and (left := left - _cost(message.text[end])) >= 0:
        end += 1
    return message.model_copy(update={"text": f"{message.text[:end].rstrip()}…"})
