import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.extractive.quotes import OverlapQuoteFinder
from tests.retrieval.answer.extractive.test_sentences import RAGGED
from tests.retrieval.answer.extractive.test_units import LINES

FINDER = OverlapQuoteFinder()
KEYS = """\
# API keys

API keys expire after 90 days. You replace one under Settings > Security > Keys. The old key works for
24 more hours.

| Plan | Days |
|---|---|
| Free | 30 |
| Pro | 60 |

```
kb key new
kb key revoke --all
```
"""


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("You have to change your API key every 90 days.", "API keys expire after 90 days."),
        ("After a change the old one stays valid for 24 hours.", "The old key works for\n24 more hours."),
        ("Keys of the free plan last 30 days", "Free | 30"),
        ("On Pro it is 60.", "Pro | 60"),
        ("Run `kb key revoke --all`", "kb key revoke --all"),
        ("Der alte Schlüssel gilt noch 24 Stunden.", "The old key works for\n24 more hours."),
        ("更换路径：Settings > Security > Keys", "You replace one under Settings > Security > Keys."),
        ("密钥会过期", "API keys expire after 90 days."),
        ("", "API keys expire after 90 days."),
    ],
)
def test_the_words_that_carry_the_claim(claim: str, quote: str) -> None:
    assert FINDER.find(claim, KEYS) == quote


def test_a_claim_that_sums_up_two_sentences_gets_both() -> None:
    passage = (
        "Tea is free. Coffee costs one euro. Lunch is at noon. Dinner is at seven. Doors close at nine."
    )
    assert FINDER.find("Lunch is served at noon and dinner at seven.", passage) == (
        "Lunch is at noon. Dinner is at seven."
    )


def test_without_any_fit_a_short_passage_is_quoted_whole() -> None:
    assert FINDER.find("密钥会过期", "Keys expire. Change them.") == "Keys expire. Change them."


def test_a_number_weighs_more_than_common_words() -> None:
    passage = "The limit for a hotel in a large city is high. It is 190 euros."
    assert "190" in FINDER.find("The limit is 190 euros in a large city.", passage)


@given(RAGGED, RAGGED | LINES)
def test_a_quote_is_verbatim_and_never_empty_for_text(claim: str, passage: str) -> None:
    quote = FINDER.find(claim, passage)
    assert quote in passage
    assert bool(quote) == bool(passage)


@given(
    st.lists(
        st.sampled_from(["Keys expire after 90 days.", "Rooms cost 12 euros.", "Bikes are blue."]),
        min_size=1,
    )
)
def test_a_sentence_of_the_passage_finds_itself(parts: list[str]) -> None:
    passage = "\n\n".join(parts)
    assert all(FINDER.find(part, passage) == part for part in parts)


@pytest.mark.parametrize("unit", ["a. ", "|", "- x\n", "[", "x", "\n", "1.\n", "`", "> "])
def test_long_repetitions_take_time_in_proportion(unit: str) -> None:
    passage = unit * (60_000 // len(unit))
    assert FINDER.find("How many points?", passage) in passage
