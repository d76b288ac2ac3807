import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.judge.facts import Quantity, names, quantities
from retrieval.evaluation.judge.rules import RuleJudge

PASSAGE = (
    "The kiosk on Elm Street sells 40 kinds of bread. It opens at 6:30 am and closes at noon. "
    "Bread from the day before is not sold, but given away. Orders of more than 12 loaves are placed two "
    "days ahead with Dora Lind, by 17 May at the latest."
)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("It opens at 6:30 am and closes at noon.", "quoted"),
        ("The kiosk sells 40 kinds of bread [1].", "held"),
        ("The kiosk opens at 06:30.", "held"),
        ("Orders of more than 12 loaves are placed 48 hours ahead.", "held"),
        ("The kiosk sells 14 kinds of bread.", "number"),
        ("Orders of more than 12 loaves are placed two weeks ahead.", "number"),
        ("Orders are placed with Dora Lund by 17 May.", "name"),
        ("Orders are placed by 17 June at the latest.", "number"),
        ("Bread from the day before is sold.", "negation"),
        ("The kiosk on Elm Street does not open at 6:30 am.", "negation"),
        ("Orders of less than 12 loaves are placed two days ahead.", "negation"),
        ("Cheese and wine arrive every morning from nearby farms.", "overlap"),
        ("Der Kiosk verkauft 40 Sorten Brot.", "held"),
        ("Der Kiosk verkauft 41 Sorten Brot.", "number"),
        ("Der Kiosk verkauft auch Käse und Wein.", "language"),
    ],
)
def test_reasons(sentence: str, reason: str) -> None:
    verdict = RuleJudge().decide(sentence, PASSAGE)
    assert verdict.reason == reason
    assert verdict.supported is (reason in ("quoted", "held"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("24 more hours", [Quantity("time", 86_400)]),
        ("1,200 or 1.200", [Quantity("", 1200), Quantity("", 1200)]),
        ("2,60 euros", [Quantity("euro", 2.6)]),
        ("$66", [Quantity("dollar", 66)]),
        ("8 pm, 20:00 and 20 Uhr", [Quantity("clock", 1200)] * 3),
        ("am 31. März", [Quantity("date", 331)]),
        ("12 December, December 12, 2026-12-12", [Quantity("date", 1212)] * 3),
        ("周五两小时", [Quantity("time", 7200), Quantity("weekday", 5)]),
        ("4月と10月", [Quantity("month", 4), Quantity("month", 10)]),
        ("drei Tage", [Quantity("time", 3 * 86_400)]),
        ("three years", [Quantity("months", 36)]),
        ("one of them", []),
    ],
)
def test_quantities(text: str, found: list[Quantity]) -> None:
    assert sorted(quantities(text), key=str) == sorted(found, key=str)


def test_names() -> None:
    assert names("Ask Dora Lind about `roles.yaml`, #help-it or XJ-900B.", "en") == {
        "dora", "lind", "roles.yaml", "#help-it", "xj900b",
    }  # fmt: skip
    assert names("Der Antrag geht an die Leitung.", "de") == set()


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_judged(sentence: str, passage: str) -> None:
    assert RuleJudge().decide(sentence, passage) == RuleJudge().decide(sentence, passage)


@given(st.lists(st.sampled_from(PASSAGE.split()), min_size=1, max_size=8))
def test_a_passage_holds_itself(words: list[str]) -> None:
    text = " ".join(words)
    assert RuleJudge().decide(text, f"Before. {text} After.").supported
