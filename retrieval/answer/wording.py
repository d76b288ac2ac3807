"""Whole messages made up of known phrases: what they say, in which language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal, cast, get_args

from retrieval.answer.extractive.terms import fold
from retrieval.answer.lexicon import UNSPACED, load

#: What a phrase says. "filler" says nothing by itself.
Saying = Literal[
    "greeting",
    "thanks",
    "capabilities",
    "shorten",
    "list",
    "expand",
    "reword",
    "translate",
    "filler",
    "attached",  # "this file"
    "overview",  # "what does ... say"
]
#: A longer message is no greeting and no wish about an answer.
_LONGEST = 160

_MENTION = re.compile(r"(?<!\S)@[\w.-]+|<[@!#][^<>\s]{1,64}>")
_SHORTCODE = re.compile(r"(?<!\w):[a-z0-9_+'-]{1,40}:(?!\w)")
#: Apostrophes and hyphens join words; everything else that isn't a letter, a mark or a digit parts them.
_APART = re.compile(r"[^\w'\u064b-\u065f\u0900-\u0dff\u0e00-\u0eff-]+|_+")


@dataclass(frozen=True, slots=True)
class Said:
    """What a message says, and the language of the phrases."""

    sayings: frozenset[Saying]
    language: str


def words_only(text: str) -> str:
    """A message without mentions and emoji shortcodes."""
    return _SHORTCODE.sub(" ", _MENTION.sub(" ", text)).strip()


@lru_cache(maxsize=1024)
def sayings_of(text: str) -> tuple[Said, ...]:
    """Each language whose phrases make up the whole message, with what they say in it.

    Empty if anything is left over in every language, and for messages of fillers only.
    """
    if len(text) > _LONGEST:
        return ()
    plain = _plain(words_only(text))
    if not plain:
        return ()
    found: list[Said] = []
    for language in _languages():
        sayings = _read(plain.replace(" ", "") if language in UNSPACED else plain, language)
        if sayings:
            found.append(Said(sayings, language))
    return tuple(found)


@lru_cache(maxsize=1024)
def names_attached(text: str) -> bool:
    """Whether a message says "this file" or the like, in any language."""
    if len(text) > _LONGEST:
        return False
    plain = _plain(words_only(text))
    names = cast("dict[str, str]", load("intents")["attached"])
    return any(
        _plain(name).replace(" ", "") in plain.replace(" ", "")
        if language in UNSPACED
        else f" {_plain(name)} " in f" {plain} "
        for language, phrases in names.items()
        for name in _split(phrases)
    )


def _read(plain: str, language: str) -> frozenset[Saying]:
    """What the phrases say that make up `plain`; empty if they don't."""
    pattern, meanings = _phrases(language)
    sayings: set[Saying] = set()
    at = 0
    while at < len(plain):
        phrase = pattern.match(plain, at)
        if phrase is None:
            return frozenset()
        sayings.add(meanings[phrase.group(1)])
        at = phrase.end()
    return frozenset(sayings - {"filler"})


def _plain(text: str) -> str:
    return " ".join(_APART.sub(" ", fold(text.replace("’", "'"))).split())


@cache
def _languages() -> tuple[str, ...]:
    return tuple(code for code in load("intents")["filler"] if code != "any")


@cache
def _phrases(language: str) -> tuple[re.Pattern[str], dict[str, Saying]]:
    """A pattern for one phrase of a language, the longest first, and what each phrase says."""
    meanings: dict[str, Saying] = {}
    for saying, phrase in _all_phrases(language):
        plain = _plain(phrase)
        meanings.setdefault(plain.replace(" ", "") if language in UNSPACED else plain, saying)
    body = "|".join(re.escape(phrase) for phrase in sorted(meanings, key=len, reverse=True))
    return re.compile(f"({body})" if language in UNSPACED else rf"({body})(?:\s+|\Z)"), meanings


def _all_phrases(language: str) -> Iterator[tuple[Saying, str]]:
    """Those that say most come first: "ok" is thanks rather than a filler."""
    data = cast("dict[str, dict[str, Any]]", load("intents"))
    for saying in get_args(Saying):
        if saying == "translate":
            for template in _split(data["into"].get(language, "")):
                if "{}" not in template:
                    yield saying, template
                for name in data["languages"].get(language, "").split() if "{}" in template else ():
                    yield saying, template.format(name)
            continue
        for code in (language, "any"):
            for phrase in _split(data[saying].get(code, "")):
                yield saying, phrase


def _split(phrases: str) -> list[str]:
    return [phrase.strip() for phrase in phrases.split("|") if phrase.strip()]
