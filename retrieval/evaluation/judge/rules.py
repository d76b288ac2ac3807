"""Judges by rule whether a passage holds a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from retrieval.answer.extractive.question import content_terms
from retrieval.answer.extractive.sentences import sentence_spans
from retrieval.answer.language import language_of
from retrieval.evaluation.judge.binding import swapped
from retrieval.evaluation.judge.facts import Quantity, holds_name, names, quantities, rates
from retrieval.evaluation.judge.negation import contradicts
from retrieval.evaluation.judge.protocol import Verdict

#: A sentence whose content words stand in the passage to a lesser share is not of it. Chosen on the "dev"
#: part of the labelled pairs.
OVERLAP = 0.5
_FORMATTING = re.compile(r"[*`_>#|]+")
_CITATION = re.compile(r"\[[^\]\n]{1,60}\]")

Reason = Literal["quoted", "number", "name", "negation", "overlap", "language", "held"]


@dataclass(frozen=True, slots=True)
class _Part:
    """A sentence, line or row of a passage."""

    text: str
    row: bool


class RuleJudge:
    """A verbatim quote is held. Else each number (with its unit), time, date and name must stand in the
    passage, the numbers close together; nothing may be denied that the passage affirms; and enough of the
    words must be the passage's. A sentence in another language than its passage has facts to go by only.
    """

    name = "rules"

    def __init__(self, *, overlap: float = OVERLAP) -> None:
        self._overlap = overlap

    async def judge(self, sentence: str, passage: str) -> Verdict:
        return self.decide(sentence, passage)

    def decide(self, sentence: str, passage: str) -> Verdict:
        reason = self._reason(_CITATION.sub("", sentence).strip(), passage)
        return Verdict(reason in ("quoted", "held"), reason)

    def _reason(self, sentence: str, passage: str) -> Reason:
        bare = _bare(sentence)
        if not bare:
            return "held"
        if bare in _bare(passage):
            return "quoted"
        language, written = language_of(sentence) or language_of(passage), language_of(passage)
        wanted = quantities(sentence)
        called = names(sentence, language)
        if not all(holds_name(name, passage) for name in called):
            return "name"
        parts = _parts(passage)
        near = _near(wanted, parts)
        if near is None:
            return "number"
        if written and language != written:
            return "held" if wanted or called else "language"
        language = language or "en"
        said = {term.key for term in content_terms(sentence, language) if not term.number}
        held = {term.key for term in content_terms(passage, language)}
        if said and len(said & held) / len(said) < self._overlap:
            return "overlap"
        near = _closest(said, near, language)
        close = "\n".join(part.text for part in near)
        if any(part.row for part in near) and not _row_names(called, near, parts):
            return "name"
        if (ours := rates(sentence)) and (theirs := rates(close)) and not ours & theirs:
            return "number"
        if wanted and swapped(sentence, passage, language):
            return "number"
        return "negation" if contradicts(sentence, close, passage, language) else "held"


def _parts(passage: str) -> list[_Part]:
    parts: list[_Part] = []
    for block in re.split(r"\n(?=\s*(?:[|#>*-]|\d+[.)]\s))|\n\s*\n", passage):
        if block.count("|") > 2:
            parts += [_Part(line, True) for line in block.splitlines() if line.strip()]
        else:
            parts += [_Part(block[slice(*span)], False) for span in sentence_spans(block)]
    return parts


def _near(wanted: list[Quantity], parts: list[_Part]) -> list[_Part] | None:
    """The one or two neighbouring parts that hold all the quantities; None where there are none."""
    if not wanted:
        return parts
    held = [quantities(part.text) for part in parts]
    for size in (1, 2):
        for start in range(len(parts) - size + 1):
            here = [quantity for some in held[start : start + size] for quantity in some]
            if all(any(want.meets(one) for one in here) for want in wanted):
                return parts[start : start + size]
    return None


def _row_names(called: frozenset[str], near: list[_Part], parts: list[_Part]) -> bool:
    """Names that stand in other rows of the table only belong to other numbers."""
    here = " ".join(part.text for part in near)
    others = [part.text for part in parts if part.row and part not in near]
    return all(holds_name(n, here) or not any(holds_name(n, row) for row in others) for n in called)


def _closest(said: set[str], parts: list[_Part], language: str) -> list[_Part]:
    """The part that shares the most words with the sentence."""
    shares = [len(said & {term.key for term in content_terms(part.text, language)}) for part in parts]
    best = max(shares, default=0)
    return [part for part, share in zip(parts, shares, strict=True) if share == best][:1]


def _bare(text: str) -> str:
    """Words in order, without case, formatting and final stops."""
    return " ".join(_FORMATTING.sub(" ", text).casefold().split()).strip(" .。!?:;,")
