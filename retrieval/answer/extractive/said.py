"""What the answer before has quoted already: whoever asks on wants something else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from retrieval.answer.extractive.question import read_question
from retrieval.answer.extractive.rank import Scored
from retrieval.answer.protocol import HistoryTurn

#: The line with which the last answer began has answered another question: it scores so much less.
_BEGAN: Final = 1.5
_WORD = re.compile(r"[^\W_]+")


def unsaid(question: str, history: Sequence[HistoryTurn], scored: Sequence[Scored]) -> list[Scored]:
    """`scored` without the lines that the last answer of the thread quoted, best first.

    The best line stays whatever was said, since it may answer this question better than the one
    before. Where that is asked again, so do all.
    """
    answers = [place for place, turn in enumerate(history) if turn.role == "assistant"]
    if not scored or not answers:
        return list(scored)
    before = [turn for turn in history[: answers[-1]] if turn.role == "person"]
    if before and read_question(before[-1].text).keys == read_question(question).keys:
        return list(scored)
    answer = _words(history[answers[-1]].text)
    places = [_place(each, answer) for each in scored]
    began = min((place for place in places if place >= 0), default=None)
    ranked = sorted(
        zip(scored, places, strict=True),
        key=lambda pair: pair[0].score - _BEGAN * (pair[1] == began),
        reverse=True,
    )
    return [each for rank, (each, place) in enumerate(ranked) if rank == 0 or place < 0]


def _place(each: Scored, answer: str) -> int:
    """Where the line stands in the words of an answer, -1 if it doesn't."""
    line, text = each.candidate.line, each.candidate.passage.text
    forms = (_words(line.unit.of(text)), _words(line.text))
    return max((answer.find(form) for form in forms if form.strip()), default=-1)


def _words(text: str) -> str:
    """Without marks and Markdown, so that a quote is found however it was set."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
