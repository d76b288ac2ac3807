"""Citations carry verbatim quotes, and claims are checked against their passages."""

from __future__ import annotations

import pytest

from retrieval.answer.cite import cite, unsupported_figures
from retrieval.answer.marked_text import Named
from retrieval.trace import Trace
from tests.retrieval.answer.handbook import sources


class Inventive:
    """Quotes what stands nowhere."""

    def find(self, sentence: str, passage: str) -> str:
        return "Keys never expire."


class Claimed:
    """Quotes the claim itself, where it stands in the passage."""

    def find(self, sentence: str, passage: str) -> str:
        return sentence if sentence in passage else ""


async def test_a_quote_is_always_a_part_of_the_passage() -> None:
    named = [Named(1, "2", ("A token lasts one hour.",)), Named(2, "1", ())]
    for quotes in (Inventive(), Claimed()):
        trace = Trace(turn_id="t", workspace="w")
        found = await cite(named, sources(), quotes, style="numbers", trace=trace)
        assert [citation.label for citation in found] == ["1", "2"]
        assert all(citation.quote and citation.quote in citation.chunk.text for citation in found)
    assert found[0].quote == "A token lasts one hour."


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        ("Keys last 90 days.", []),
        ("Keys last 60 days.", ["60"]),
        ("It costs 1,000 or 1.000 or 1'000.", []),
        ("No figures at all.", []),
    ],
)
def test_figures_are_compared_without_their_separators(claim: str, missing: list[str]) -> None:
    assert unsupported_figures([Named(1, "1", (claim,))], {"1": "90 days, 1000 euros"}) == missing


def test_a_figure_may_stand_in_any_of_the_sources_that_its_sentence_names() -> None:
    both = "90 days and 24 hours."
    named = [Named(1, "1", (both,)), Named(2, "2", (both,))]
    assert unsupported_figures(named, {"1": "90 days", "2": "24 hours"}) == []
    assert unsupported_figures(named[:1], {"1": "90 days", "2": "24 hours"}) == ["24"]
