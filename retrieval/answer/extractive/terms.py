"""Words as they are compared: folded, cut to a stem of sorts, with the place where they stand."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

#: Letters, digits and the vowel signs and tones that Indic and South-East Asian scripts write as
#: separate marks (which `\w` leaves out); apostrophes and hyphens stay outside.
_MARKS = "\u0300-\u036f\u064b-\u065f\u0670\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_NUMBER = r"\d+(?:[.,:]\d+)*"
_HAN_KANA = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_THAI_LAO_BURMESE_KHMER = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_TOKEN = re.compile(
    rf"(?P<number>{_NUMBER})|(?P<han>[{_HAN_KANA}]+)|(?P<thai>[{_THAI_LAO_BURMESE_KHMER}]+)"
    rf"|(?:[^\W\d_{_HAN_KANA}{_THAI_LAO_BURMESE_KHMER}]|[{_MARKS}])+"
)
#: A part number, error code or version, which names one thing and nothing like it.
_IDENTIFIER = re.compile(r"[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*")
_SEPARATORS = re.compile(r"[-_./]")
#: Shorter ones are ordinals and measures: "2nd", "5pm".
_IDENTIFIER_CHARS = 4
_LETTER_AND_DIGIT = re.compile(r"(?=.{0,64}[A-Za-z])(?=.{0,64}\d)")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+\Z")

#: Scripts without spaces are compared by overlapping runs of so many characters.
_GRAMS = {"han": 2, "thai": 4}
#: Words are compared by this many first letters: no stemmer knows the language of a question of
#: three words, and endings carry little of what is asked.
STEM = 5
#: Korean puts particles after the noun, without a space: its first two syllables are the word.
HANGUL_STEM = 2
#: Arabic writes the article, "and" and short prepositions as one word with what follows.
_ARABIC = re.compile("[\u0600-\u06ff]")
_ARABIC_PREFIX = re.compile("\\A[وف]?(?:[بك]?ال|لل)(?=..)")
_ENDING = re.compile(r"(?<=....)(?:ing|ed|er|en|es|e)\Z")
_HANGUL = re.compile("[\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Term:
    """One word, number or run of characters, `text[start:end]` of where it was found."""

    key: str
    start: int
    end: int
    number: bool = False


def identifiers_of(text: str) -> frozenset[str]:
    """Words with both letters and digits, such as "ERR_CONN_4092", "XJ-900B" and "v2.3.1".

    Folded and without their separators, which people leave out or mix up.
    """
    words = (found.group() for found in _IDENTIFIER.finditer(text))
    return frozenset(
        _SEPARATORS.sub("", word).casefold()
        for word in words
        if len(word) >= _IDENTIFIER_CHARS and _LETTER_AND_DIGIT.match(word)
    )


def terms_of(text: str) -> list[Term]:
    """The terms of a text in order. Linear in its length."""
    terms: list[Term] = []
    for found in _TOKEN.finditer(text):
        start, end = found.span()
        if found.lastgroup == "number":
            terms.append(Term(_number(found.group()), start, end, number=True))
        elif found.lastgroup is not None:
            run, size = found.group(), _GRAMS[found.lastgroup]
            for at in range(max(1, len(run) - size + 1)):
                gram = run[at : at + size]
                terms.append(Term(gram, start + at, start + at + len(gram)))
        else:
            terms.append(Term(stem(found.group()), start, end))
    return terms


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without case, accents and ending: "expires" and "expiry" share nothing but "expir"."""
    plain = fold(word)
    if _HANGUL.match(plain):
        return plain[:HANGUL_STEM]
    if _ARABIC.match(plain):
        plain = _ARABIC_PREFIX.sub("", plain)
    return _without_ending(plain)[:STEM]


def fold(text: str) -> str:
    """A text without case and accents."""
    text = text.casefold()
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(c for c in apart if not "\u0300" <= c <= "\u036f"))


def _without_ending(word: str) -> str:
    """Without the endings that short words of European languages take most, so that "key" meets "keys"
    and "leak" meets "leaked": of a long word the cut takes care."""
    if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui":
        word = word[:-1]
    ending = _ENDING.search(word)
    return word[: ending.start()] if ending else word


def _number(digits: str) -> str:
    """One form for "1,234", "1.234" and "1234"; "3,5" equals "3.5"."""
    if _THOUSANDS.match(digits):
        return digits.replace(",", "").replace(".", "")
    return digits.replace(",", ".")
