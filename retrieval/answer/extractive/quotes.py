"""The words of a passage that carry a claim, verbatim."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from retrieval.answer.extractive.sentences import Span
from retrieval.answer.extractive.terms import terms_of
from retrieval.answer.extractive.units import units_of

#: A claim may sum up so many neighbouring sentences.
_MOST_PARTS = 3
#: A further sentence must add this share of the claim's weight to be part of the quote.
_WORTH_A_PART = 0.15
#: Below this share of the claim's weight no sentence fits: the claim is in another language, say.
_FITS = 0.1
#: A number is the hardest to match by chance.
_NUMBER_WEIGHT = 3.0
#: Without a fit, a passage up to this length is quoted whole.
_SHORT = 200


@dataclass(frozen=True, slots=True)
class _Part:
    """A sentence, item, row or line of code with the keys of its words."""

    span: Span
    group: int
    keys: frozenset[str]


class OverlapQuoteFinder:
    """A `QuoteFinder` that aligns a claim with the sentences of the passage by the words they share,
    the rarer in the passage the heavier."""

    def find(self, sentence: str, passage: str) -> str:
        parts = _parts(passage)
        if not parts:
            return passage.strip() or passage
        weights = _weights(sentence, parts)
        span, fit = _best(parts, weights)
        if fit < _FITS * sum(weights.values()) or not weights:
            span = _opening(passage, parts)
        return passage[span[0] : span[1]]


def _best(parts: Sequence[_Part], weights: Mapping[str, float]) -> tuple[Span, float]:
    """The run of neighbouring parts that covers most of the claim, and the weight it covers."""
    total = sum(weights.values())
    best, best_value, best_fit = parts[0].span, -math.inf, 0.0
    for first in range(len(parts)):
        found: set[str] = set()
        for last in range(first, min(first + _MOST_PARTS, len(parts))):
            if parts[last].group != parts[first].group:
                break
            found |= weights.keys() & parts[last].keys
            fit = sum(weights[key] for key in found)
            value = fit - _WORTH_A_PART * total * (last - first)
            if value > best_value:
                best, best_value, best_fit = (parts[first].span[0], parts[last].span[1]), value, fit
    return best, best_fit


def _weights(claim: str, parts: Sequence[_Part]) -> dict[str, float]:
    """The claim's words that the passage holds or could hold, weighted by rarity in the passage."""
    seen = Counter(key for part in parts for key in part.keys)
    return {
        term.key: (_NUMBER_WEIGHT if term.number else 1.0) / (1 + math.log(max(1, seen[term.key])))
        for term in terms_of(claim)
    }


def _opening(passage: str, parts: Sequence[_Part]) -> Span:
    whole = (parts[0].span[0], parts[-1].span[1])
    return whole if whole[1] - whole[0] <= _SHORT and "\n\n" not in passage.strip() else parts[0].span


@lru_cache(maxsize=128)
def _parts(passage: str) -> tuple[_Part, ...]:
    parts: list[_Part] = []
    headings: list[_Part] = []
    for unit in units_of(passage):
        for start, end in _pieces(passage, unit.kind, unit.start, unit.end):
            keys = frozenset(term.key for term in terms_of(passage[start:end]))
            (headings if unit.kind == "heading" else parts).append(_Part((start, end), unit.group, keys))
    return tuple(parts or headings)


def _pieces(passage: str, kind: str, start: int, end: int) -> list[Span]:
    """A row without its outer bars, code by lines, all else as it is."""
    if kind == "row":
        start += passage[start] == "|"
        end -= passage[end - 1] == "|" and end - 1 > start
        inner = passage[start:end]
        start, end = start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())
        return [(start, end)] if start < end else []
    if kind != "code":
        return [(start, end)]
    pieces: list[Span] = []
    for line in passage[start:end].split("\n"):
        if line.strip():
            pieces.append((start + len(line) - len(line.lstrip()), start + len(line.rstrip())))
        start += len(line) + 1
    return pieces
