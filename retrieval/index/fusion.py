"""Lists of passages become one, by their scores, each list weighed for the question at hand.

Reciprocal rank fusion counts every list alike, so keywords that match by chance (a question in Spanish,
passages in English) push out what the vectors found. Scores tell more than ranks do (Bruch, Gai, Ingber:
"An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023). Here:

- In each list a passage gets its share of the way from the list's floor (1, the best, to 0). The floor is
  the last score of a list that was cut there, since whatever is missing from it scores no more than that.
- The dense list of a query counts 1. Its keyword list counts best score / (`CHANCE` * sqrt(terms)). Words
  that match by chance add up like a random walk, with the square root of their number, so this says how far
  the best match stands above chance. (The same root is in WIG, a predictor of query performance: Zhou and
  Croft, "Query Performance Prediction in Web Search Environments", SIGIR 2007.) A term that no passage
  holds adds to the terms and to no score, and a rare one adds most to the score. Among a few passages no
  word is rare, so there it takes less.
- A passage in another language than the best keyword match can't hold the words of the question, whether
  or not it answers it. So its share of the keyword list counts as no less than its share of the dense one.

`bench/fusion.py` measures it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.index.protocol import RRF_K, ListWeight

#: Best BM25 score for sqrt(terms) = 1 at which keywords count as much as vectors. The only constant that
#: was fitted, see `bench/fusion.py`: 7 to 10 are about as good.
CHANCE = 8.0
#: Inverse document frequency of a word that one of 220 passages holds. With fewer passages than that,
#: where the rarest word has less, `CHANCE` is less in proportion.
RARE = 5.0
#: What a passage gets for standing at the floor of a list, rather than not in it.
AT_FLOOR = 1e-3
#: Scores nearer than this are equal: sums of the same terms in another order differ in the last digits.
DIGITS = 7

_UNKNOWN = frozenset(("", "und"))


@dataclass(frozen=True, slots=True)
class RankedList:
    """What a store found for one query in one way."""

    #: "dense:0", "bm25:0"; the number is that of the query.
    name: str
    query: int
    #: Id and score, best first.
    entries: Sequence[tuple[str, float]]
    #: It ends at its depth, and not because nothing more matched.
    cut: bool = False
    #: Weights of the query's terms together, for a keyword list; None for a dense one.
    terms: float | None = None
    #: Passages over which the keyword list's document frequencies were counted; None where not known.
    passages: int | None = None


@dataclass(frozen=True, slots=True)
class Fused:
    """`scores` are 0..1: the mean of a passage's shares, by weight. `weights` add up to 1."""

    scores: Mapping[str, float]
    weights: tuple[ListWeight, ...]

    def order(self) -> list[str]:
        """Best first, equal scores by id."""
        return sorted(self.scores, key=lambda key: (-round(self.scores[key], DIGITS), key))


class Fusion(Protocol):
    def __call__(self, lists: Sequence[RankedList], languages: Mapping[str, str]) -> Fused:
        """One list of all. languages: of each passage, its ISO 639-1 code or "und"."""
        ...


def by_score(lists: Sequence[RankedList], languages: Mapping[str, str]) -> Fused:
    """The fusion described above. A mode with one list for each query weighs them alike."""
    return combine(lists, weigh(lists), languages)


def by_reciprocal_rank(lists: Sequence[RankedList], languages: Mapping[str, str]) -> Fused:  # noqa: ARG001
    """Plain RRF, to compare with: 1/(60 + rank) from each list."""
    scores: dict[str, float] = {}
    for each in lists:
        for rank, (key, _) in enumerate(each.entries, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (RRF_K + rank)
    return Fused(scores, tuple(ListWeight(each.name, 1 / len(lists)) for each in lists))


def weigh(lists: Sequence[RankedList]) -> list[float]:
    """How much each list counts: 1 for every list but the keyword lists beside a dense one."""
    dense = {each.query for each in lists if each.terms is None}
    return [
        1.0 if each.terms is None or each.query not in dense else _above_chance(each, each.terms)
        for each in lists
    ]


def combine(lists: Sequence[RankedList], weights: Sequence[float], languages: Mapping[str, str]) -> Fused:
    """Shares added up with the weights, which are not negative."""
    total = sum(weights) or 1.0
    shares = [_shares(each) for each in lists]
    by_meaning = {
        each.query: found for each, found in zip(lists, shares, strict=True) if each.terms is None
    }
    scores: dict[str, float] = {}
    told: list[ListWeight] = []
    for each, found, weight in zip(lists, shares, weights, strict=True):
        others = 0
        if each.terms is not None and each.entries:
            language = languages.get(each.entries[0][0], "")
            for key, share in by_meaning.get(each.query, {}).items():
                if _differ(language, languages.get(key, "")) and share > found.get(key, 0.0):
                    found[key] = share
                    others += 1
        for key, share in found.items():
            scores[key] = scores.get(key, 0.0) + share * weight / total
        told.append(ListWeight(each.name, weight / total, bool(each.entries), others))
    return Fused(scores, tuple(told))


def _above_chance(keywords: RankedList, terms: float) -> float:
    if not keywords.entries:
        return 0.0
    rarest = RARE if keywords.passages is None else math.log1p(max(keywords.passages - 0.5, 0.5) / 1.5)
    chance = CHANCE * min(1.0, rarest / RARE)
    return keywords.entries[0][1] / (chance * math.sqrt(max(terms, 1.0)))


def _shares(each: RankedList) -> dict[str, float]:
    if not each.entries:
        return {}
    best, last = each.entries[0][1], each.entries[-1][1]
    floor = last if each.terms is None or each.cut else 0.0
    if best <= floor:
        return dict.fromkeys((key for key, _ in each.entries), AT_FLOOR if each.cut else 1.0)
    return {key: max(AT_FLOOR, (score - floor) / (best - floor)) for key, score in each.entries}


def _differ(one: str, other: str) -> bool:
    """Whether both languages are known, and not the same."""
    if one in _UNKNOWN or other in _UNKNOWN:
        return False
    return one.partition("-")[0] != other.partition("-")[0]
