from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.extractive.terms import fold
from retrieval.answer.extractive.topic import MOST_WORDS, topic_of

THREAD = (
    "How often do I change my API key?",
    "Who approves exceptions, contractors, suppliers, visitors?",
    "Does the API key expire on holidays?",
)


def test_what_comes_again_and_what_came_first_is_the_topic() -> None:
    topic = topic_of(THREAD)
    assert {"change", "API", "key"} <= set(topic)
    assert len(topic) == MOST_WORDS


def test_what_the_answer_spoke_of_comes_before_what_it_did_not() -> None:
    thread = ("Which rules are there?", "one two three four five six seven eight nine visitors")
    assert "visitors" not in topic_of(thread)
    assert "visitors" in topic_of(thread, answer="Visitors wear a badge.")


def test_words_of_the_question_itself_are_not_said_twice() -> None:
    topic = topic_of(THREAD[:1], asked="and which keys of the API?")
    assert topic == ["change"]


def test_in_a_text_without_spaces_too() -> None:
    assert topic_of(["年假有多少天？", "怎么申请年假？"], asked="在上海呢？")
    assert "年假" in "".join(topic_of(["年假有多少天？"]))


@given(st.lists(st.text(), max_size=5), st.text(), st.text())
def test_only_words_of_the_questions_and_few_of_them(thread: list[str], answer: str, asked: str) -> None:
    topic = topic_of(thread, answer=answer, asked=asked)
    assert len(topic) <= MOST_WORDS
    assert all(fold(word) in fold(" ".join(thread)) for word in topic)
