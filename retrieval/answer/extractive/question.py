"""What a question asks: its words that matter, and the kind of answer that it wants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from retrieval.answer.extractive.terms import Term, terms_of
from retrieval.answer.language import language_of
from retrieval.answer.lexicon import UNSPACED, load, word_lists

Wanted = Literal["number", "time", "person", "place", "steps", "list"]

_NAME = re.compile(r"(?<=[^\s.!?:])[ \t\n]+[\"'“„«(]*[A-ZÀ-ÞА-Я][\w'’-]+")
_PATH = re.compile(r"\w\s*(?:>|→|›|»|▸)\s*\w|https?://|(?<!\w)/\w+/\w|\w@\w")
_TIME = re.compile(r"\b(?:1[0-9]|20)\d\d\b|\b\d{1,2}[:.]\d\d\b|\b\d{1,2}(?:st|nd|rd|th|\.)\s+\w|[年月日時时]|\bพ\.ศ\.")


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    language: str | None
    #: Distinct keys of the words that carry the topic; never empty unless the text has no words.
    keys: tuple[str, ...]
    wanted: frozenset[Wanted]


@lru_cache(maxsize=256)
def read_question(text: str) -> Question:
    language = language_of(text)
    every = tuple(dict.fromkeys(term.key for term in terms_of(text)))
    topical = tuple(dict.fromkeys(term.key for term in content_terms(text, language)))
    return Question(text, language, topical or every, _wanted(text, language))


def content_terms(text: str, language: str | None) -> list[Term]:
    """The terms of a text without those that only ask or join in its language."""
    lists = word_lists("function_words")
    if language in UNSPACED:
        return [term for term in terms_of(_cut(language).sub(" ", text))]
    words = lists.get(language or "", frozenset())
    if language is None:
        words = lists["en"]
    return [
        term for term in terms_of(text) if term.number or text[term.start : term.end].casefold() not in words
    ]


@lru_cache(maxsize=8)
def _cut(language: str) -> re.Pattern[str]:
    parts = sorted(word_lists("function_words")[language], key=len, reverse=True)
    return re.compile("|".join(map(re.escape, parts)))


def _wanted(text: str, language: str | None) -> frozenset[Wanted]:
    return frozenset(kind for kind in Wanted.__args__ if _cue(kind, language or "en").search(text.casefold()))


@lru_cache(maxsize=256)
def _cue(kind: Wanted, language: str) -> re.Pattern[str]:
    phrases: list[str] = load("question_cues")[kind].get(language, [])
    if not phrases:
        return re.compile(r"(?!)")
    body = "|".join(map(re.escape, sorted(phrases, key=len, reverse=True)))
    return re.compile(body if language in UNSPACED else rf"(?<!\w)(?:{body})(?!\w)")


def offers(text: str, terms: list[Term], language: str | None, asked: frozenset[str], wanted: Wanted) -> bool:
    """Whether `text` holds something of the wanted kind that the question doesn't hold already."""
    if wanted in ("number", "time"):
        if any(term.number and term.key not in asked for term in terms):
            return True
        words = word_lists("number_words").get(language or "en", frozenset())
        if language in UNSPACED:
            return any(word in text for word in words)
        return any(
            text[term.start : term.end].casefold() in words for term in terms if term.key not in asked
        ) or (wanted == "time" and _TIME.search(text) is not None)
    if wanted == "person":
        return any(
            name.group().strip("\"'“„«( \t\n")[:6].casefold() not in asked for name in _NAME.finditer(text)
        )
    if wanted == "place":
        return _PATH.search(text) is not None or _NAME.search(text) is not None
    return False
