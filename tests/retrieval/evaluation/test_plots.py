from xml.etree import ElementTree

import pytest

from retrieval.evaluation.compare import compare
from retrieval.evaluation.plots.bars import bars
from retrieval.evaluation.plots.forest import forest
from retrieval.evaluation.plots.svg import shortened, signed, ticks
from retrieval.evaluation.plots.trade import trade
from retrieval.evaluation.summary import summarise
from tests.retrieval.evaluation.test_compare import cell, report

ODD = 'sets & <more>/ünï "quoted" of a very long name indeed'


def text_of(svg: str) -> str:
    return " ".join(ElementTree.fromstring(svg).itertext())


@pytest.mark.parametrize("values", [{"1": 0.5}, {"1": 0.0, "2": 1.0, "3": 0.5}])
@pytest.mark.parametrize("change", [0.0, 0.3, -0.3])
def test_forest_is_well_formed_for_any_outcome(values: dict[str, float], change: float) -> None:
    one = report((ODD, [cell(values)]), ("b", [cell(values)]))
    two = report((ODD, [cell({q: v + change for q, v in values.items()})]), ("b", [cell(values)]))
    svg = forest(compare(one, two, labels=("hybrid", "hybrid")))
    assert "all sets (2)" in text_of(svg)
    for element in ElementTree.fromstring(svg).iter():
        for name in ("x", "x1", "x2", "cx"):
            if name in element.attrib:
                assert 0 <= float(element.attrib[name]) <= 940


def test_bars_and_trade() -> None:
    found = report((ODD, [cell({"1": 0.25, "2": 0.75}), cell({"1": 1.0, "2": 1.0}, mode="keyword", ms=1)]))
    assert "0.500" in text_of(bars(found))
    assert "keyword" in text_of(trade(summarise(found)))


def test_both_themes() -> None:
    assert "prefers-color-scheme: dark" in bars(report(("a", [cell({"1": 1.0})])))


def test_ticks_are_round() -> None:
    assert ticks(-0.03, 0.05) == [-0.02, 0.0, 0.02, 0.04]
    assert ticks(0, 1) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]


def test_words() -> None:
    assert (signed(0.0123), signed(-0.5), signed(-0.0001)) == ("+0.012", "−0.500", "0.000")
    assert shortened("abcdefghij", 5) == "ab…ij"
