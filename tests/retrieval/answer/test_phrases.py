import string
from typing import get_args

import pytest

from retrieval.answer.lexicon import load
from retrieval.answer.phrases import LeadKey, PhraseBook
from retrieval.answer.protocol import CannedKey

BOOK = PhraseBook()
KEYS = (*get_args(CannedKey), *get_args(LeadKey))


def test_every_key_has_english_and_at_least_ten_languages() -> None:
    phrases = load("phrases")
    assert set(phrases) == set(KEYS)
    for key, texts in phrases.items():
        assert "en" in texts, key
        assert len(texts) >= 10, key


@pytest.mark.parametrize("key", KEYS)
def test_texts_are_whole_and_keep_the_commands(key: CannedKey) -> None:
    texts = load("phrases")[key]
    for language, text in texts.items():
        assert text == text.strip() != "", language
        assert text[-1] in string.punctuation + "。！？：؟।" or language in ("th",), (key, language)
        assert text.count("`") == texts["en"].count("`"), (key, language)
        for command in ("/kb upload", "kb upload", "in:handbook", "label:hr"):
            assert (command in texts["en"]) == (command in text), (key, language, command)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("danke", "de"),
        ("hola", "es"),
        ("谢谢", "zh"),
        ("ありがとうございます", "ja"),
        ("auf Englisch bitte", "de"),
        ("Wie viele Urlaubstage habe ich?", "de"),
        ("combien de jours de congé ?", "fr"),
        ("Сколько дней отпуска?", "ru"),
        ("كم عدد أيام الإجازة؟", "ar"),
        ("hi", "en"),
        ("xyzzy", "en"),
        ("🎉", "en"),
        ("", "en"),
    ],
)
def test_a_reply_is_in_the_askers_language(text: str, language: str) -> None:
    assert BOOK.reply("thanks", text=text) == load("phrases")["thanks"][language]


@pytest.mark.parametrize("tag", ["de", "de-AT", "DE_CH"])
def test_a_language_that_is_given_wins(tag: str) -> None:
    assert BOOK.reply("thanks", text="thank you", language=tag) == load("phrases")["thanks"]["de"]


def test_a_language_without_phrases_gets_english() -> None:
    assert BOOK.reply("thanks", text="danke", language="fi") == load("phrases")["thanks"]["en"]
