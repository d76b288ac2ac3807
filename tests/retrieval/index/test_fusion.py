"""Lists weighed and fused by their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.index.fusion import (
    CHANCE,
    Fused,
    RankedList,
    by_reciprocal_rank,
    by_score,
    combine,
    weigh,
)

IDS = [f"p{n:02}" for n in range(12)]
LANGUAGES = st.dictionaries(st.sampled_from(IDS), st.sampled_from(["en", "de", "zh", "und", ""]))


def entries(scores: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))


def dense(scores: dict[str, float], *, query: int = 0, cut: bool = False) -> RankedList:
    return RankedList(f"dense:{query}", query, entries(scores), cut)


def keywords(
    scores: dict[str, float],
    *,
    query: int = 0,
    cut: bool = False,
    terms: float = 4,
    passages: int | None = None,
) -> RankedList:
    return RankedList(f"bm25:{query}", query, entries(scores), cut, terms, passages)


def found(low: float, high: float) -> st.SearchStrategy[dict[str, float]]:
    # Two digits, so that equal scores are common and different ones aren't equal by rounding.
    scores = st.floats(low, high).map(lambda score: round(score, 2))
    return st.dictionaries(st.sampled_from(IDS), scores, max_size=12)


DENSE = st.builds(dense, found(-1, 1), query=st.integers(0, 2), cut=st.booleans())
KEYWORDS = st.builds(
    keywords,
    found(0.01, 60),
    query=st.integers(0, 2),
    cut=st.booleans(),
    terms=st.floats(0.5, 40),
    passages=st.none() | st.integers(0, 9999),
)
LISTS = st.lists(DENSE | KEYWORDS, max_size=6, unique_by=lambda each: each.name)


def ids(ranked: Sequence[tuple[str, float]]) -> list[str]:
    return [key for key, _ in ranked]


@given(LISTS, LANGUAGES)
def test_scores_and_weights_are_shares(lists: list[RankedList], languages: dict[str, str]) -> None:
    fused = by_score(lists, languages)
    assert set(fused.scores) == {key for each in lists for key, _ in each.entries}
    assert all(0 <= score <= 1 + 1e-9 for score in fused.scores.values())
    assert [each.name for each in fused.weights] == [each.name for each in lists]
    total = sum(each.weight for each in fused.weights)
    assert total == pytest.approx(1) or total == 0


@given(st.permutations(range(6)), LISTS, LANGUAGES)
def test_the_order_of_the_lists_does_not_matter(
    order: list[int], lists: list[RankedList], languages: dict[str, str]
) -> None:
    shuffled = [lists[n] for n in order if n < len(lists)]
    assert by_score(shuffled, languages).order() == by_score(lists, languages).order()


@given(DENSE.filter(lambda each: bool(each.entries)), found(0.01, 60), LANGUAGES)
def test_a_list_without_weight_changes_nothing(
    one: RankedList, other: dict[str, float], languages: dict[str, str]
) -> None:
    lists = [one, keywords(other, query=one.query)]
    order = combine(lists, [1, 0], languages).order()
    alone = by_score([one], {}).order()
    assert order[: len(alone)] == alone


@given(found(-1, 1), found(0.01, 60).filter(bool))
def test_without_weight_of_its_own_the_other_list_stays(
    one: dict[str, float], other: dict[str, float]
) -> None:
    lists = [dense(one), keywords(other)]
    order = combine(lists, [0, 1], {}).order()
    assert order[: len(other)] == ids(lists[1].entries)


@given(DENSE | KEYWORDS)
def test_a_list_by_itself_keeps_its_order(each: RankedList) -> None:
    assert by_score([each], {}).order() == ids(each.entries)


@given(DENSE.filter(lambda each: bool(each.entries)), st.integers(2, 5))
def test_the_same_list_twice_is_the_list(each: RankedList, times: int) -> None:
    copies = [RankedList(f"dense:{n}", n, each.entries, each.cut) for n in range(times)]
    assert by_score(copies, {}).order() == ids(each.entries)


@given(found(-1, 1).filter(bool), found(0.01, 60).filter(bool), st.booleans())
def test_the_best_of_both_lists_is_the_best(
    by_meaning: dict[str, float], by_words: dict[str, float], cut: bool
) -> None:
    lists = [dense(by_meaning | {"best": 2.0}, cut=cut), keywords(by_words | {"best": 99.0}, cut=cut)]
    fused = by_score(lists, {})
    assert fused.order()[0] == "best"
    assert fused.scores["best"] == pytest.approx(1)


@given(found(-1, 1).filter(bool), found(0.01, 60).filter(bool), st.floats(0.1, 10), st.floats(-3, 3))
def test_an_embedder_with_another_range_of_scores_gives_the_same(
    by_meaning: dict[str, float], by_words: dict[str, float], scale: float, shift: float
) -> None:
    moved = {key: score * scale + shift for key, score in by_meaning.items()}
    one = by_score([dense(by_meaning), keywords(by_words)], {})
    other = by_score([dense(moved), keywords(by_words)], {})
    assert other.scores == pytest.approx(one.scores, abs=1e-6)


def test_what_keywords_count() -> None:
    def weight(best: float, terms: float) -> float:
        return weigh([dense({"a": 0.9}), keywords({"a": best}, terms=terms)])[1]

    assert weight(CHANCE * 2, 4) == 1
    assert weight(CHANCE * 2, 16) == 0.5
    assert weight(2 * CHANCE, 0.5) == weight(2 * CHANCE, 1)
    assert weigh([dense({"a": 0.9}), keywords({})]) == [1, 0]
    # Nothing to be weighed against: keywords alone, as when no embedding model answers.
    assert weigh([keywords({"a": 0.1}), keywords({"a": 9.0}, query=1)]) == [1, 1]
    # Each query for itself.
    lists = [dense({}), keywords({"a": CHANCE}, terms=1), dense({}, query=1), keywords({}, query=1)]
    assert weigh(lists) == [1, 1, 1, 0]


def test_among_few_passages_no_word_is_rare() -> None:
    """Two passages: the best score that one word can have is about 1."""

    def weight(best: float, passages: int) -> float:
        lists = [dense({"a": 0.9}), keywords({"a": best}, terms=1, passages=passages)]
        return weigh(lists)[1]

    assert weight(1.0, 2) > 0.8
    assert weight(1.0, 0) == weight(1.0, 1) > weight(1.0, 2)
    assert weight(CHANCE, 230) == weight(CHANCE, 50_000) == 1


def test_shares_count_from_the_floor_of_a_list_that_was_cut() -> None:
    whole = by_score([keywords({"a": 10, "b": 6, "c": 5})], {})
    assert whole.scores == pytest.approx({"a": 1, "b": 0.6, "c": 0.5})
    cut = by_score([keywords({"a": 10, "b": 6, "c": 5}, cut=True)], {})
    assert cut.scores == pytest.approx({"a": 1, "b": 0.2, "c": 0.001})
    assert by_score([keywords({"a": 10, "b": 10}, cut=True)], {}).scores["a"] < 0.01
    assert by_score([dense({"a": 0.9})], {}).scores == {"a": 1}


def test_another_language_counts_by_meaning() -> None:
    lists = [dense({"de": 0.9, "en": 0.8, "last": 0.5}), keywords({"en": CHANCE}, terms=1)]
    same = by_score(lists, dict.fromkeys(("de", "en", "last"), "en"))
    assert same.order()[0] == "en"
    for language in ("de", "de-AT"):
        fused = by_score(lists, {"de": language, "en": "en", "last": "en-GB"})
        assert fused.order()[0] == "de"
        assert [each.other_language for each in fused.weights] == [0, 1]
    # It can't be told, so it counts as the same.
    assert by_score(lists, {"de": "und", "en": "en"}).order()[0] == "en"


def test_reciprocal_ranks_to_compare_with() -> None:
    lists = [dense({"a": 0.9, "b": 0.8}), keywords({"b": 3.0})]
    fused = by_reciprocal_rank(lists, {})
    assert fused.scores == pytest.approx({"a": 1 / 61, "b": 1 / 62 + 1 / 61})
    assert fused.order() == ["b", "a"]


def test_nothing_found() -> None:
    for fusion in (by_score, by_reciprocal_rank):
        assert fusion([], {}) == Fused({}, ())
    assert by_score([dense({}), keywords({})], {}).order() == []
    assert not any(math.isnan(each.weight) for each in by_score([keywords({})], {}).weights)
