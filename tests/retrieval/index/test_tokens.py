import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.index.tokens import MAX_WORD, bigrams, terms_of, without_accents


@pytest.mark.parametrize(
    ("text", "words", "forms"),
    [
        ("ERR_CONN_4092", ["err", "conn", "4092"], ["errconn4092"]),
        ("XJ-900B", ["xj", "900b"], ["900", "xj900b"]),
        ("XJ900B", ["xj900b"], ["xj", "900"]),
        ("v2.3.1", ["v2", "3", "1"], ["v2.3.1", "2.3.1"]),
        ("snake_case", ["snake", "case"], ["snakecase"]),
        ("getHTTPResponse", ["gethttpresponse"], ["get", "http", "response"]),
        ("/usr/lib/x.py", ["usr", "lib", "x", "py"], ["xpy", "usrlibxpy"]),
        (
            "ann.lee@example.com",
            ["ann", "lee", "example", "com"],
            ["annlee", "examplecom", "annleeexamplecom"],
        ),
        ("1,190", ["1", "190"], ["1190"]),
        ("2024-03-01", ["2024", "03", "01"], ["2024.03.01"]),
        ("C++ and C#.", ["c", "and", "c"], ["c++", "c#"]),
        ("l'amour, it's", ["amour", "it"], []),
        ("Zugriffs\u00adschlüssel", ["zugriffsschlüssel"], []),
        ("ＡＢＣ １２", ["abc", "12"], []),
        ("٢٠٢٤", ["2024"], []),
        ("हिन्दी", ["हिन्दी"], []),
        ("İstanbul", ["istanbul"], []),
        ("iPhone14を買う", ["iphone14"], ["iphone", "14", "phone"]),
        ("🙂🎉 …", [], []),
        ("", [], []),
    ],
)
def test_terms(text: str, words: list[str], forms: list[str]) -> None:
    terms = terms_of(text)
    assert (terms.words, terms.forms) == (words, forms)


def test_versions_are_not_confused() -> None:
    assert not set(terms_of("2.3.1").forms) & set(terms_of("23.1").forms)


def test_runs_of_scripts_without_spaces_are_set_apart() -> None:
    assert terms_of("Das ist 有給休暇 und ภาษาไทย.").runs == ["有給休暇", "ภาษาไทย"]


def test_bigrams() -> None:
    assert bigrams("有給休暇") == ["有給", "給休", "休暇"]
    assert bigrams("年") == ["年"]
    assert bigrams("ภาษาไทย") == []


@pytest.mark.parametrize(("word", "plain"), [("café", "cafe"), ("über", "uber"), ("й", "й"), ("ß", "ß")])
def test_without_accents(word: str, plain: str) -> None:
    assert without_accents(word) == plain


broken = st.text(st.characters(), max_size=200)  # surrogates and NUL among them


@given(broken)
def test_any_text_gives_short_lower_case_terms(text: str) -> None:
    terms = terms_of(text)
    assert all(0 < len(term) <= 18 * MAX_WORD for term in terms.words + terms.forms)
    assert all(not term.isspace() and " " not in term for term in terms.words + terms.forms + terms.runs)


@given(broken)
def test_composed_and_decomposed_text_give_the_same_words(text: str) -> None:
    text = unicodedata.normalize("NFC", text)
    assert terms_of(unicodedata.normalize("NFD", text)).words == terms_of(text).words


@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0301\u0323" * 50_000,
        "a-" * 125_000,
        "x" * 250_000,
        "'" * 250_000,
        "1," * 125_000,
        "\ufdfa" * 20_000,
        "漢" * 250_000,
        "aB" * 125_000,
        "\0" * 250_000,
    ],
    ids=["marks", "hyphens", "one word", "apostrophes", "digits", "ligatures", "han", "humps", "nul"],
)
def test_a_quarter_megabyte_takes_linear_time(text: str) -> None:
    """Quadratic time would take minutes here and stop the whole run."""
    terms_of(text)
