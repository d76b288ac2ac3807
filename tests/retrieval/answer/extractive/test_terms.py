import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.extractive.terms import fold, identifiers_of, stem, terms_of


def keys(text: str) -> set[str]:
    return {term.key for term in terms_of(text)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("key", "Keys"),
        ("changing", "changes"),
        ("Änderung", "andern"),
        ("Urlaubstage", "Urlaub"),
        ("clé", "CLE"),
        ("المملكة", "مملكة"),
        ("للمدينة", "والمدينة"),
        ("휴가", "휴가는"),
        ("ＡＰＩ", "api"),
        ("1,234", "1234"),
        ("1.234", "1234"),
        ("3,5", "3.5"),
    ],
)
def test_forms_of_a_word_meet(one: str, other: str) -> None:
    assert keys(one) == keys(other)


@pytest.mark.parametrize(
    ("one", "other"), [("key", "kex"), ("3.5", "35"), ("class", "clas"), ("bus", "bu")]
)
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert keys(one) != keys(other)


def test_scripts_without_spaces_are_compared_by_runs() -> None:
    assert keys("更换密钥") & keys("密钥过期") == {"密钥"}
    assert keys("ขายรองเท้า") & keys("รองเท้าหนัง")


def test_vowel_signs_belong_to_their_word() -> None:
    assert len(terms_of("हिन्दी भाषा")) == 2


def test_identifiers_are_told_from_words_and_ordinals() -> None:
    found = identifiers_of("On the 2nd try ERR_CONN_4092 hit the XJ-900B (v2.3.1), see roles.yaml at 5pm.")
    assert found == {"errconn4092", "xj900b", "v231"}


@given(st.text())
def test_terms_stand_where_they_say(text: str) -> None:
    end = 0
    for term in terms_of(text):
        assert 0 <= term.start < term.end <= len(text)
        assert term.key
        assert term.end >= end
        end = term.end


@given(st.text())
def test_folding_and_stemming_are_settled_after_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert len(stem(text)) <= len(fold(text))
