"""Which of the scored lines are quoted, and together with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from retrieval.answer.extractive.passages import Line, Passage, columns
from retrieval.answer.extractive.question import Question
from retrieval.answer.extractive.rank import Scored
from retrieval.answer.extractive.terms import identifiers_of, terms_of
from retrieval.answer.extractive.weights import MARGIN, MARGIN_ELSEWHERE
from retrieval.answer.protocol import Length

#: Sentences, list items alone or rows that one answer quotes.
MOST_LINES: dict[Length, int] = {"concise": 3, "steps": 3, "detailed": 6}
#: A list, or the rows of a table asked for as a whole, are quoted up to here.
MOST_ITEMS = 12
MOST_CODE_LINES = 30
#: A detailed answer quotes lines that score so many times further below the best.
_DETAILED = 3
#: The line after the best one goes on from it, and may score so much less.
_GOES_ON = 0.6
#: Share of common words from which two lines say the same.
_SAME = 0.8
#: A line before a list or a block of code introduces it unless it is longer than this.
_LEAD_CHARS = 240

Form = Literal["prose", "list", "table", "code"]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of one passage that are shown together, by their indices in order."""

    passage: Passage
    form: Form
    at: tuple[int, ...]
    #: Index of the line that introduces a list or code.
    lead: int | None = None
    #: Items of the list that are left out at its end.
    omitted: int = 0

    @property
    def lines(self) -> list[Line]:
        return [self.passage.lines[at] for at in self.at]


def select(question: Question, scored: Sequence[Scored], length: Length) -> list[Excerpt]:
    """The excerpts that answer, best first; `scored` is best first and not empty.

    The best line is always in. Others follow if they score nearly as well, a line of the same
    passage sooner than one from elsewhere. A list is quoted whole when it is what is asked for.
    """
    limit = MOST_LINES[length]
    taken: list[Scored] = []
    excerpts: list[Excerpt] = []
    for each in scored:
        if len(taken) >= limit:
            break
        if (taken and not _worth(question, each, taken, length)) or _shown(each, excerpts):
            continue
        taken.append(each)
        whole = _whole(question, each, taken, length)
        if whole is not None:
            excerpts = [e for e in excerpts if not _inside(e, whole)]
            excerpts.append(whole)
            limit -= 1
    return _gather(taken, excerpts)


def _worth(question: Question, each: Scored, taken: Sequence[Scored], length: Length) -> bool:
    best, passage, line = taken[0], each.candidate.passage, each.candidate.line
    same_passage = passage.rank == best.candidate.passage.rank
    margin = (MARGIN if same_passage else MARGIN_ELSEWHERE) * (_DETAILED if length == "detailed" else 1)
    if same_passage and each.candidate.at == best.candidate.at + 1:
        margin += _GOES_ON
    if each.score < best.score - margin:
        return False
    if not same_passage and (
        passage.language != best.candidate.passage.language or line.unit.kind == "code"
    ):
        return False
    rows = [
        t
        for t in taken
        if t.candidate.passage is passage and t.candidate.line.unit.group == line.unit.group
    ]
    if line.unit.kind == "row" and rows and _named(question, each) < _named(question, rows[0]):
        return False
    return all(_difference(line, other.candidate.line) for other in taken)


def _named(question: Question, row: Scored) -> int:
    """How many of the question's words stand in a row itself: all rows share those of the header."""
    values = " ".join(value for _, value in columns(row.candidate.line.unit, row.candidate.passage.text))
    return len({term.key for term in terms_of(values)} & set(question.keys))


def _difference(line: Line, other: Line) -> bool:
    """Whether `line` says something that `other` doesn't. Another number is another statement."""
    if _figures(line) != _figures(other):
        return True
    if line.unit.kind == other.unit.kind == "row":
        return line.text != other.text
    fewer = min(len(line.keys), len(other.keys))
    return not fewer or len(line.keys & other.keys) < _SAME * fewer


def _figures(line: Line) -> frozenset[str]:
    return frozenset(term.key for term in line.terms if term.number) | identifiers_of(line.text)


def _shown(each: Scored, excerpts: Sequence[Excerpt]) -> bool:
    passage, at = each.candidate.passage, each.candidate.at
    return any(e.passage.rank == passage.rank and (at in e.at or at == e.lead) for e in excerpts)


def _inside(excerpt: Excerpt, whole: Excerpt) -> bool:
    return excerpt.passage.rank == whole.passage.rank and set(excerpt.at) <= {*whole.at, whole.lead}


def _whole(question: Question, each: Scored, taken: Sequence[Scored], length: Length) -> Excerpt | None:
    """The list, table or code that the line belongs to or introduces, where that is to be shown."""
    passage, at = each.candidate.passage, each.candidate.at
    unit = passage.lines[at].unit
    if unit.kind == "sentence":
        following = passage.lines[at + 1].unit if at + 1 < len(passage.lines) else None
        introduces = passage.lines[at].text.rstrip("*_ ").endswith((":", "："))
        if following is None or following.kind == "sentence" or not introduces:
            return None
        return _block(passage, at + 1)
    if unit.kind == "code":
        return _block(passage, at)
    siblings = sum(
        s.candidate.passage.rank == passage.rank and s.candidate.line.unit.group == unit.group
        for s in taken
    )
    asked = question.wants("steps", "list") or length == "steps"
    if unit.kind == "item" and (asked or siblings > 1):
        return _block(passage, at)
    return None


def _block(passage: Passage, at: int) -> Excerpt:
    """The whole group of the line at `at`, bounded, with the line that introduces it."""
    unit = passage.lines[at].unit
    members = [i for i, line in enumerate(passage.lines) if line.unit.group == unit.group]
    forms: dict[str, Form] = {"item": "list", "row": "table", "code": "code"}
    # In a long list the items around the one that was found, from the first if it is among those.
    first = max(0, min(members.index(at) - MOST_ITEMS + 1, len(members) - MOST_ITEMS))
    shown = members[first : first + MOST_ITEMS]
    lead = members[0] - 1 if members[0] > 0 and first == 0 else None
    if lead is not None:
        line = passage.lines[lead]
        near = line.unit.kind == "sentence" and len(line.text) <= _LEAD_CHARS
        lead = lead if near and line.heading == passage.lines[at].heading else None
    return Excerpt(passage, forms[unit.kind], tuple(shown), lead, omitted=len(members) - first - len(shown))


def _gather(taken: Sequence[Scored], wholes: Sequence[Excerpt]) -> list[Excerpt]:
    """Lines that aren't part of a whole, joined by passage and form, in the order of the best."""
    gathered: list[Excerpt] = []
    for each in taken:
        passage, at = each.candidate.passage, each.candidate.at
        whole = next((w for w in wholes if w.passage.rank == passage.rank and at in {*w.at, w.lead}), None)
        if whole is not None:
            if whole not in gathered:
                gathered.append(whole)
            continue
        form: Form = "table" if passage.lines[at].unit.kind == "row" else "prose"
        group = passage.lines[at].unit.group
        for place, excerpt in enumerate(gathered):
            same = excerpt.passage.rank == passage.rank and excerpt.form == form and excerpt not in wholes
            if same and (form == "prose" or excerpt.lines[0].unit.group == group):
                gathered[place] = Excerpt(passage, form, tuple(sorted((*excerpt.at, at))))
                break
        else:
            gathered.append(Excerpt(passage, form, (at,)))
    return gathered
