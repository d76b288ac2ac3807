"""What a thread is about, in a few of its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.answer.extractive.question import topic_words
from retrieval.answer.extractive.terms import terms_of
from retrieval.answer.language import language_of

#: No more words than these are carried over: more of them drown those of the question itself.
MOST_WORDS: Final = 6
#: A question counts for so much of what the one after it counts ...
_FADES: Final = 0.7
#: ... but the first, which mostly names the topic, for so much more.
_FIRST: Final = 1.0
#: The answer before speaks of the word, too.
_ANSWERED: Final = 0.5


@dataclass(slots=True)
class _Word:
    text: str
    #: Index of the latest question that holds it, and its place there.
    place: tuple[int, int]
    weight: float = 0.0


def topic_of(
    questions: Sequence[str], *, answer: str = "", asked: str = "", most: int = MOST_WORDS
) -> list[str]:
    """At most `most` topical words of earlier questions (oldest first), in the order of asking.

    Words that come again and again, in the first question, or in the `answer` before come first when
    there are too many; those that stand in the question `asked` now are left out.
    """
    own, answered = _keys(asked), _keys(answer)
    words: dict[frozenset[str], _Word] = {}
    for number, text in enumerate(questions):
        counts = _FADES ** (len(questions) - 1 - number) + (_FIRST if number == 0 else 0.0)
        for at, word in enumerate(topic_words(text, language_of(text))):
            key = _keys(word)
            if not key or key <= own:
                continue
            found = words.setdefault(key, _Word(word, (number, at), _ANSWERED * (key <= answered)))
            found.text, found.place = word, (number, at)
            found.weight += counts
    best = sorted(words.values(), key=lambda word: word.weight, reverse=True)[:most]
    return [word.text for word in sorted(best, key=lambda word: word.place)]


def _keys(text: str) -> frozenset[str]:
    return frozenset(term.key for term in terms_of(text))
