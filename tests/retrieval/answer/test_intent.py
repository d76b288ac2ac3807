import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.intent import MAX_CHARS, MAX_WORDS, PhraseIntentDetector, rework_kind
from retrieval.answer.lexicon import load
from retrieval.answer.protocol import HistoryTurn, Intent
from tests.data import DATA, needs_data

DETECTOR = PhraseIntentDetector()
MESSAGES: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "intent_messages.toml").read_text("utf-8")
)
ANSWERED = (
    HistoryTurn("person", "How often do I change my key?"),
    HistoryTurn("assistant", "Every 90 days. [1]"),
)


def detect(text: str, *, answered: bool = False) -> Intent:
    return DETECTOR.detect(text, ANSWERED if answered else ())


@pytest.mark.parametrize("text", MESSAGES["greetings"])
def test_greetings(text: str) -> None:
    assert detect(text) == "greeting"
    assert detect(text, answered=True) == "greeting"


@pytest.mark.parametrize("text", MESSAGES["thanks"])
def test_thanks(text: str) -> None:
    assert detect(text) == "thanks"
    assert detect(text, answered=True) == "thanks"


@pytest.mark.parametrize("text", MESSAGES["capabilities"])
def test_what_it_can_do(text: str) -> None:
    assert detect(text) == "capabilities"


@pytest.mark.parametrize("text", MESSAGES["questions"])
def test_whatever_asks_for_more_is_a_question(text: str) -> None:
    assert detect(text) == "question"
    assert detect(text, answered=True) == "question"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, "shorten") for text in MESSAGES["shorten"]),
        *((text, "list") for text in MESSAGES["list"]),
        *((text, "translate") for text in MESSAGES["translate"]),
        *((text, "reword") for text in MESSAGES["reword"]),
        *((text, "expand") for text in MESSAGES["expand"]),
    ],
)
def test_wishes_about_an_answer_need_an_answer(text: str, kind: str) -> None:
    assert detect(text, answered=True) == "rework"
    assert detect(text) == "question"
    assert rework_kind(text) == kind


def test_the_hardest_wish_decides() -> None:
    assert rework_kind("shorter and in German please") == "translate"
    assert rework_kind("shorter, as a list") == "list"
    assert rework_kind("and in Germany?") is None


@pytest.mark.parametrize("text", ["", " \n\t", "@Footnote", "<@U024BE7LH>", "@Footnote  ", "\u200b"])
def test_nothing_but_a_mention(text: str) -> None:
    assert detect(text) in ("empty", "only_emoji")
    assert detect("@Footnote") == "empty"


@pytest.mark.parametrize(
    "text", ["👍", "🙏🏽🙏🏽", "???", "!", "...", ":thumbsup:", "👨‍👩‍👧", "❤️", "¯\\_(-)_/¯"]
)
def test_nothing_but_marks(text: str) -> None:
    assert detect(text) == "only_emoji"


def test_a_thumb_under_an_answer_is_thanks() -> None:
    assert detect("👍", answered=True) == "thanks"
    assert detect("🤔", answered=True) == "only_emoji"


def test_a_document_is_no_question() -> None:
    assert detect("word " * 10_000) == "too_long"
    assert detect("word " * (MAX_WORDS + 1)) == "too_long"
    assert detect("字" * (MAX_CHARS + 1)) == "too_long"
    assert detect("word " * 500) == "question"


@given(st.text(), st.booleans())
def test_any_text_has_an_intent(text: str, answered: bool) -> None:
    assert detect(text, answered=answered)


@given(
    st.sampled_from(
        [p for kinds in load("intents").values() for ps in kinds.values() for p in ps.split("|")]
    )
)
def test_a_phrase_followed_by_a_topic_is_a_question(phrase: str) -> None:
    assert detect(f"{phrase.strip()} xylophones", answered=True) == "question"


@needs_data
@pytest.mark.data
def test_no_question_of_real_people_is_taken_for_something_else() -> None:
    assert DATA is not None
    wrong: list[str] = []
    paths = [
        *sorted((DATA / "retrieval").glob("*/*/queries.jsonl")),
        DATA / "retrieval" / "mtrag_un_pool" / "queries.jsonl",
        *sorted((DATA / "retrieval" / "conv_rewrite").glob("*.jsonl")),
    ]
    for path in paths:
        wrong += [text for text in _questions(path) if detect(text, answered=True) != "question"]
    # Two of 12,000 really are none.
    assert sorted(wrong) == ["Could you expand on that?", "Great! Thank you for your help."]


def _questions(path: Path) -> list[str]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [row.get("question") or row["text"] for row in rows]
