"""What a question asks: its words that matter, and the kind of answer that it wants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, get_args

from retrieval.answer.extractive.terms import Term, fold, identifiers_of, stem, terms_of
from retrieval.answer.language import language_of
from retrieval.answer.lexicon import UNSPACED, load, word_lists

Wanted = Literal["number", "time", "person", "place", "steps", "list"]

#: A capitalised word inside a sentence, in the scripts that have capitals.
_NAME = re.compile(r"(?<=[^\s.!?:])\s[\"'“„«(]*([A-ZÀ-ÞА-Я][\w'’-]+)")
_ACRONYM = re.compile(r"(?<!\w)[A-Z][A-Z0-9]+(?!\w)")
#: Languages that write every noun with a capital, or have none.
NO_CAPITALS = frozenset(("de", "lb", "ar", "fa", "he", "hi", "ko", "ka", *UNSPACED))
#: English writes "I" with a capital wherever it stands.
_FIRST_PERSON = ("I'", "I’")
#: What stands between function words in a text without spaces.
_PART = re.compile(r"[\w\u0e00-\u0eff-]+(?: [A-Za-z0-9][\w-]*)*")
#: A menu path, an address, a file path: where something is done or found.
_PATH = re.compile(r"\w\s?[>→›»▸]\s?\w|https?://|(?<!\w)/\w+/\w|\w@\w")
_TIME = re.compile(
    r"\b(?:1\d|20)\d\d\b|\b\d{1,2}[:.]\d\d\b|\b\d{1,2}(?:st|nd|rd|th|\.)\s\w"
    r"|[\d〇一二三四五六七八九十]\s?[年月日号號時时点點]|\bพ\.ศ\."
)
#: A number in Chinese characters: several of them, or one before a measure word. Alone they are part of
#: too many other words.
_HAN_NUMBER = re.compile(
    r"[〇一二三四五六七八九十百千万萬億亿两兩半每毎数數]"
    r"(?:[一二三四五六七八九十百千万萬億亿]|[次年月日天个個人名位度回分秒時时周週歳岁元円点點倍种種座])"
)


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    #: ISO 639-1 code, None where it can't be told.
    language: str | None
    #: Distinct keys of the words that carry the topic; empty only if the text has no words at all.
    keys: tuple[str, ...]
    wanted: frozenset[Wanted]
    #: Part numbers, error codes and such that it names; see `identifiers_of`.
    identifiers: frozenset[str]
    #: Of `keys`, those that the thread or a rewrite added to what the person wrote.
    added: frozenset[str] = frozenset()
    #: Keys of each name in it, in languages that write only names with a capital.
    names: tuple[frozenset[str], ...] = ()

    def wants(self, *kinds: Wanted) -> bool:
        return not self.wanted.isdisjoint(kinds)


@lru_cache(maxsize=256)
def read_question(text: str) -> Question:
    language = language_of(text)
    every = tuple(dict.fromkeys(term.key for term in terms_of(text)))
    topical = tuple(
        dict.fromkeys(term.key for term in content_terms(_without_cues(text, language), language))
    )
    return Question(
        text,
        language,
        topical or every,
        _wanted(text, language or "en"),
        identifiers_of(text),
        names=_names(text, language),
    )


def read_rewritten(asked: str, standalone: str) -> Question:
    """A question by its standalone form, with the words that are not the person's own marked."""
    question = read_question(standalone)
    own = read_question(asked)
    return replace(question, added=frozenset(question.keys) - frozenset(own.keys))


def content_terms(text: str, language: str | None) -> list[Term]:
    """The terms of a text without those that only ask or join in its language.

    For languages without spaces the places of the terms are those in the text without such parts.
    """
    language = language or "en"
    if language in UNSPACED:
        left = terms_of(_function_parts(language).sub(" ", text))
        # What is left alone between two such parts is seldom a word.
        return [term for term in left if term.number or len(term.key) > 1]
    words = word_lists("function_words").get(language, frozenset[str]())
    return [
        term
        for term in terms_of(text)
        # A lone letter is what an apostrophe has cut off: "what's", "l'indemnité".
        if term.number or (len(term.key) > 1 and text[term.start : term.end].casefold() not in words)
    ]


def topic_words(text: str, language: str | None) -> list[str]:
    """The words that carry the topic as they stand, each once; parts of a text without spaces."""
    language = language or "en"
    if language in UNSPACED:
        parts = _function_parts(language).split(text)
        words = [word for part in parts for word in _PART.findall(part) if len(word) > 1]
    else:
        words = [text[term.start : term.end] for term in content_terms(text, language)]
    return list({fold(word): word for word in reversed(words)}.values())[::-1]


def names_in(text: str) -> list[str]:
    """Words that a capital inside a sentence tells as names, in languages that write only names so."""
    return [name.group(1) for name in _NAME.finditer(text) if not name.group(1).startswith(_FIRST_PERSON)]


def _names(text: str, language: str | None) -> tuple[frozenset[str], ...]:
    if language is None or language in NO_CAPITALS:
        return ()
    keys = (frozenset(term.key for term in terms_of(name)) for name in names_in(text))
    return tuple(key for key in keys if key)


def acronyms_in(text: str) -> list[str]:
    """Words in capitals, such as "API", which name something in any language."""
    return _ACRONYM.findall(text)


def offers(kind: Wanted, text: str, terms: Sequence[Term], language: str, asked: frozenset[str]) -> bool:
    """Whether `text` holds something of the wanted kind that the question doesn't hold already.

    `terms` are those of `text`, `asked` the keys of the question.
    """
    if kind == "time" and _TIME.search(text):
        return True
    if kind in ("number", "time"):
        words = word_lists("number_words").get(language, frozenset[str]())
        if language in ("zh", "ja") and _HAN_NUMBER.search(text):
            return True
        if language in UNSPACED and any(word in text for word in words):
            return True
        return any(
            term.key not in asked and (term.number or text[term.start : term.end].casefold() in words)
            for term in terms
        )
    if kind == "person" or (kind == "place" and not _PATH.search(text)):
        return any(stem(name) not in asked for name in names_in(text))
    return True


@lru_cache(maxsize=8)
def _function_parts(language: str) -> re.Pattern[str]:
    parts = sorted(word_lists("function_words")[language], key=len, reverse=True)
    return re.compile("|".join(map(re.escape, parts)))


def _without_cues(text: str, language: str | None) -> str:
    """A question without the words that only ask ("how often", "what year"); those of a single word
    may name the topic ("deadline", "cost")."""
    for kind in get_args(Wanted):
        text = _cues(kind, language or "en", phrases_only=True).sub(" ", text)
    return text


def _wanted(text: str, language: str) -> frozenset[Wanted]:
    return frozenset(kind for kind in get_args(Wanted) if _cues(kind, language).search(text))


@lru_cache(maxsize=256)
def _cues(kind: Wanted, language: str, *, phrases_only: bool = False) -> re.Pattern[str]:
    phrases: list[str] = load("question_cues")[kind].get(language, [])
    if phrases_only:
        phrases = [phrase for phrase in phrases if " " in phrase or language in UNSPACED]
    if not phrases:
        return re.compile(r"(?!)")
    body = "|".join(map(re.escape, sorted(phrases, key=len, reverse=True)))
    return re.compile(body if language in UNSPACED else rf"(?<!\w)(?:{body})(?!\w)", re.IGNORECASE)
