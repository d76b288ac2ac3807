import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.extractive.question import Wanted, offers, read_question, read_rewritten, topic_words
from retrieval.answer.extractive.terms import terms_of


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("How often do I change my key?", {"number"}),
        ("Wie viele Urlaubstage habe ich?", {"number"}),
        ("多久更换一次密钥？", {"number"}),
        ("When is lunch?", {"time"}),
        ("Qui dirige l'équipe ?", {"person"}),
        ("¿Dónde está la oficina?", {"place"}),
        ("How do I rotate a key?", {"steps"}),
        ("VPN", set[str]()),
    ],
)
def test_what_kind_of_answer_is_wanted(text: str, wanted: set[str]) -> None:
    assert set(read_question(text).wanted) == wanted


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("How often do I have to change my API key?", ("chang", "api", "key")),
        ("What's the capital?", ("capit",)),
        ("Quelle est l'indemnité ?", ("indem",)),
        ("密钥在哪里？", ("密钥",)),
        ("what is it?", ("what", "is", "it")),
        ("!?", ()),
    ],
)
def test_the_words_that_carry_the_topic(text: str, keys: tuple[str, ...]) -> None:
    assert read_question(text).keys == keys


def test_words_of_the_thread_are_marked() -> None:
    question = read_rewritten("and in Germany?", "change API key and in Germany?")
    assert question.added == {"chang", "api", "key"}
    assert not read_rewritten("where?", "where?").added


@pytest.mark.parametrize(
    ("kind", "text", "language", "expected"),
    [
        ("number", "Keys expire after 90 days.", "en", True),
        ("number", "Keys expire twice a year.", "en", True),
        ("number", "Keys expire.", "en", False),
        ("number", "密钥每年更换两次。", "zh", True),
        ("number", "这是一般的说明。", "zh", False),
        ("time", "Open until 18:30.", "en", True),
        ("time", "日本に行く。", "ja", False),
        ("person", "Ask Priya Raman.", "en", True),
        ("person", "Ask the team.", "en", False),
        ("place", "Under Settings > Security.", "en", True),
        ("place", "It is somewhere.", "en", False),
    ],
)
def test_what_a_line_offers(kind: Wanted, text: str, language: str, expected: bool) -> None:
    assert offers(kind, text, terms_of(text), language, frozenset()) == expected


def test_a_number_of_the_question_is_no_answer() -> None:
    text = "In 15 minutes."
    assert not offers("number", text, terms_of(text), "en", frozenset({"15"}))


@given(st.text(), st.sampled_from([None, "en", "de", "zh", "ja", "th", "xx"]))
def test_topic_words_stand_in_the_text(text: str, language: str | None) -> None:
    words = topic_words(text, language)
    assert all(word in text for word in words)
    assert len(set(words)) == len(words)
