from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.sentences import cited_sentences


def cut(answer: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(s.text, s.labels) for s in cited_sentences(answer, ["1", "2", "keys.md"])]


def test_marks_before_and_after_the_stop() -> None:
    assert cut("Keys last 90 days [1]. The old one works on.[2] Ask security. [1][2]") == [
        ("Keys last 90 days .", ("1",)),
        ("The old one works on.", ("2",)),
        ("Ask security.", ("1", "2")),
    ]


def test_a_mark_at_the_end_stands_for_its_paragraph() -> None:
    assert cut("Keys last 90 days. Then they run out. [1]\n\nNobody says this.") == [
        ("Keys last 90 days.", ("1",)),
        ("Then they run out.", ("1",)),
        ("Nobody says this.", ()),
    ]


def test_items_stand_alone_and_leads_claim_nothing() -> None:
    assert cut("The steps are:\n\n1. Open **Keys** [keys.md]\n2. Copy it") == [
        ("Open **Keys**", ("keys.md",)),
        ("Copy it", ()),
    ]


def test_other_brackets_stay() -> None:
    assert cut("See x[3] and \\[9\\] [1]") == [("See x[3] and \\[9\\]", ("1",))]


@given(st.text(alphabet="ab .\n[]12|*-#", max_size=60))
def test_any_text(text: str) -> None:
    for sentence in cited_sentences(text, ["1", "2"]):
        assert sentence.text.strip()
        assert set(sentence.labels) <= {"1", "2"}
