"""First words: what the bot does, and questions to begin with."""

from __future__ import annotations

from typing import Final

import structlog

from adapters.kb import HELP
from adapters.ports import Refused
from adapters.teams import limits
from adapters.teams.activity import Joined
from adapters.teams.card import (
    Json,
    actions,
    asks,
    heading,
    line,
    message,
    quiet,
    run,
    whole,
    words,
)
from adapters.teams.context import Teams

log = structlog.get_logger()

_HELLO: Final = "Hello, I'm Footnote"
_DIRECT: Final = (
    "Ask me anything about your documents. I answer from them, with links to the places that the answer "
    "comes from, and say so when they don't cover it."
)
_SHARED: Final = (
    "Mention me with a question, and I answer from this workspace's documents, with links to the places "
    "that the answer comes from. In a thread I remember what was said before."
)
_ADD: Final = "Attach files to a message to me to add them. Type “help” to see what else I can do."
_ADD_SHARED: Final = "To add documents, write to me alone, or mention me with “kb upload” and files."


async def welcome(teams: Teams, joined: Joined) -> Json:
    """The card for where the bot was installed, or added: in a chat with it alone with questions that the
    person's documents answer; where others read along without, since not all may read the same."""
    direct = joined.reference.direct
    body = [heading(_HELLO), words(_DIRECT if direct else _SHARED), words(_ADD if direct else _ADD_SHARED)]
    if direct:
        questions = await _questions(teams, joined)
        body += [quiet("For instance:"), *actions([asks(one) for one in questions])] if questions else []
    return message(whole(body), _HELLO)


async def _questions(teams: Teams, joined: Joined) -> list[str]:
    who = joined.who
    try:
        actor = await teams.actor(joined.reference, who.user, aad=who.aad, name=who.name)
        return await teams.bot.answers.suggestions(actor, limit=limits.SUGGESTED)
    except Refused:
        return []
    except Exception:  # a greeting without questions is better than none
        log.exception("teams_no_suggestions")
        return []


def help_card(*, direct: bool, line: str = "") -> Json:
    """What there is, under what went wrong."""
    body = [words(line)] if line else []
    body.append(heading("What I can do"))
    body += [
        _command(entry.verb, entry.argument, entry.what, direct=direct)
        for entry in HELP
        if entry.verb != "ask"
    ]
    ask = "Or ask me anything." if direct else "Or mention me with a question. I answer for all to read."
    return whole([*body, words(ask), words(_ADD if direct else _ADD_SHARED)])


def _command(verb: str, argument: str, what: str, *, direct: bool) -> Json:
    typed = verb if direct else f"kb {verb}"
    return line(run(typed, "bold"), run(f"{f' {argument}' if argument else ''}: {what}"))
