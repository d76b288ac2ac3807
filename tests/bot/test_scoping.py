from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.scoping import Asked, ScopeError, choose_scope, read_bindings, read_terms

EVERYONE = frozenset({"workspace"})


def scope_of(asked: Asked, *, bindings: list[Asked] | None = None, labels: frozenset[str] = frozenset()):
    return choose_scope(
        "w",
        EVERYONE,
        asked,
        bindings=lambda: bindings or [],
        default_labels=labels,
        knowledge_bases=frozenset({"Handbook", "main"}),
    )


def test_terms_leave_the_text() -> None:
    text, asked = read_terms('How much? in:handbook label:"On Call" from:ann after:2026-02 before:2027')
    assert text == "How much?"
    assert asked == Asked(
        knowledge_bases=frozenset({"handbook"}),
        labels=frozenset({"on call"}),
        uploaders=frozenset({"ann"}),
        after=datetime(2026, 2, 1, tzinfo=UTC),
        before=datetime(2027, 1, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize("text", ["see https://x.example/in:y", "pin:4", "built in: Berlin", "10:30"])
def test_ordinary_colons_are_no_terms(text: str) -> None:
    assert read_terms(text) == (text, Asked())


@pytest.mark.parametrize("day", ["tomorrow", "2026-13", "2026-02-30", "26", "2026-1-1-1"])
def test_a_bad_date_is_told(day: str) -> None:
    with pytest.raises(ScopeError, match="no date"):
        read_terms(f"x after:{day}")


def test_most_specific_first() -> None:
    channel, person = Asked(labels=frozenset({"c"})), Asked(labels=frozenset({"p"}))
    message = Asked(knowledge_bases=frozenset({"handbook"}))
    assert scope_of(message, bindings=[channel, person]).knowledge_bases == {"Handbook"}
    assert scope_of(message, bindings=[channel, person]).labels is None
    assert scope_of(Asked(), bindings=[channel, person]).labels == {"c"}
    assert scope_of(Asked(), bindings=[person], labels=frozenset({"d"})).labels == {"p"}
    assert scope_of(Asked(), labels=frozenset({"d"})).labels == {"d"}
    everything = scope_of(Asked())
    assert everything.labels is None
    assert everything.knowledge_bases is None


def test_an_unknown_knowledge_base_is_told_with_those_there_are() -> None:
    with pytest.raises(ScopeError, match=r"no knowledge base “hr”.*Handbook, main"):
        scope_of(Asked(knowledge_bases=frozenset({"hr"})))


def test_bindings() -> None:
    found = read_bindings("C1 = in:handbook label:hr\n\nU7=label:sales\n")
    assert found == {
        "C1": Asked(knowledge_bases=frozenset({"handbook"}), labels=frozenset({"hr"})),
        "U7": Asked(labels=frozenset({"sales"})),
    }


@pytest.mark.parametrize("line", ["C1", "C1 =", "= label:x", "C1 = hr", "C1 = label:x and more"])
def test_a_binding_that_cannot_be_read_names_its_line(line: str) -> None:
    with pytest.raises(ScopeError, match="Line 2"):
        read_bindings(f"C0 = label:a\n{line}")


@given(st.text(max_size=200))
def test_any_text_is_read_or_told(text: str) -> None:
    try:
        rest, asked = read_terms(text)
    except ScopeError:
        return
    assert asked.empty == (rest == text) or not asked.empty
