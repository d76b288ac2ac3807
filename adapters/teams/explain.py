""" "Why this answer?" and "Show the passages": dialogs about an answer."""

from __future__ import annotations

import re
from typing import Final

from adapters.conversation import Citation
from adapters.explaining import QUESTION, STEPS, TITLE, facts, lines, total
from adapters.ports import Explanation, ExplanationStep, Refused
from adapters.teams.activity import Invoked
from adapters.teams.card import (
    Json,
    actions,
    is_https,
    line,
    one_line,
    open_url,
    quiet,
    run,
    safe,
    whole,
    words,
)
from adapters.teams.claims import address_of
from adapters.teams.context import Teams
from adapters.teams.dialog import actor_of, opened, text_of

_GONE: Final = "This answer is not kept any more. Please ask again."
_TITLE: Final = 200
#: Characters of a passage, and those of it that are shown before the cited words.
_PASSAGE, _BEFORE = 1_500, 500


async def open_why(teams: Teams, invoked: Invoked, data: Json) -> Json:
    """Raises `Refused` for a turn that the person may not see or that is gone."""
    actor = await actor_of(teams, invoked)
    explanation = await teams.bot.answers.explain(actor, text_of(data, "turn"))
    return opened(TITLE, explanation_card(explanation))


async def open_passages(teams: Teams, invoked: Invoked, data: Json) -> Json:
    """Of the sources that no page can be linked to. Raises `Refused`."""
    reply = await teams.bot.answers.reply(await actor_of(teams, invoked), text_of(data, "turn"))
    cited = [c for c in reply.citations if address_of(c) is None] if reply is not None else []
    if not cited:
        raise Refused(_GONE)
    return opened("Passages", passages_card(cited))


def explanation_card(explanation: Explanation) -> Json:
    """The question, the whole time and tokens, then a step a block."""
    body = [
        words(f"“{one_line(explanation.question, QUESTION)}”", "bold"),
        quiet(total(explanation)),
    ]
    for number, step in enumerate(explanation.steps[:STEPS], 1):
        body += _step(number, step)
    if len(explanation.steps) > STEPS:
        body.append(quiet(f"And {len(explanation.steps) - STEPS} more steps."))
    return whole(body)


def passages_card(citations: list[Citation]) -> Json:
    """Title, place, and the passage with the cited words in bold, for each."""
    body: list[Json] = []
    for citation in citations:
        title = one_line(citation.title, _TITLE) or one_line(citation.name, _TITLE) or "Untitled"
        body.append(words(f"{citation.number}. {title}", "bold"))
        if place := citation.place():
            body.append(quiet(place))
        body.append(_passage(citation))
        if (url := citation.source_url) is not None and is_https(url):
            body += actions([open_url("Open the original", url)])
    return whole(body)


def _passage(citation: Citation) -> Json:
    passage, quote = citation.passage.strip() or citation.quote.strip(), citation.quote.split()
    found = re.search(r"\s+".join(map(re.escape, quote)), passage) if quote else None
    if found is None:
        return words(passage, most=_PASSAGE)
    before, after = passage[: found.start()], passage[found.end() :]
    if len(before) > _BEFORE:
        before = f"…{before[-_BEFORE:].lstrip()}"
    pieces = [
        run(_keeping(before), "plain"),
        run(safe(found[0], _PASSAGE), "bold"),
        run(_keeping(after, most=_PASSAGE), "plain"),
    ]
    return line(*(piece for piece in pieces if piece["text"]))


def _keeping(text: str, *, most: int = 2 * _BEFORE) -> str:
    """Made harmless, with the space that stands beside the cited words."""
    if not text.strip():
        return ""
    lead = " " if text[0].isspace() else ""
    return f"{lead}{safe(text, most)}{' ' if text[-1].isspace() else ''}"


def _step(number: int, step: ExplanationStep) -> list[Json]:
    title = one_line(step.title, _TITLE)
    head = line(run(f"{number}. {title}", "bold"), run(f"  {facts(step)}", "quiet"))
    return [head, *(words(text) for text in lines(step, one_line))]
