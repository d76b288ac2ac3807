"""The language of a question: often five words, too few for a statistical detector alone."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from retrieval.answer.lexicon import UNSPACED, word_lists
from retrieval.ingest.language import UNDETERMINED, detect

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
#: From here on a text is long enough for its beginning to tell.
_SAMPLE = 1000


@lru_cache(maxsize=1024)
def language_of(text: str) -> str | None:
    """ISO 639-1 code of the language that `text` is written in, None where it can't be told.

    The small words decide ("how", "wie", "comment"); without any, or where two languages share
    them, the statistical detector does.
    """
    text = text[:_SAMPLE]
    votes = Counter[str]()
    for word in _WORD.findall(text.casefold()):
        votes.update(_languages_by_word().get(word, ()))
    leading = [language for language, count in votes.items() if count == max(votes.values())]
    if len(leading) == 1 and not _other_script(text):
        return leading[0]
    detected = detect(text).language
    if leading and detected not in leading and not _other_script(text):
        return "en" if "en" in leading else leading[0]
    return None if detected == UNDETERMINED else detected


@lru_cache(maxsize=1)
def _languages_by_word() -> dict[str, list[str]]:
    languages: dict[str, list[str]] = {}
    for language, words in word_lists("function_words").items():
        if language not in UNSPACED:
            for word in words:
                languages.setdefault(word, []).append(language)
    return languages


def _other_script(text: str) -> bool:
    """Whether most letters belong to a script of the far east, where a few Latin words mean little."""
    letters = sum(map(str.isalpha, text))
    return sum(char >= "\u0e00" for char in text) * 2 > letters
