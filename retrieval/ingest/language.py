"""The language of a text: by its script where that tells it, else by py3langid's naive Bayes model.

py3langid is Lui and Baldwin's langid.py ("langid.py: An Off-the-shelf Language Identification Tool",
ACL 2012) retrained and kept up. Its model takes about 70 MB and half a second or more to load; it loads at
the first text whose script has several languages, or when `load` is called.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from threading import Lock
from typing import NamedTuple

import py3langid

UNDETERMINED = "und"

#: What is looked at of a text, in characters: more does not make the answer better.
_SAMPLE = 500
#: The same where the language of the document is known.
_SAMPLE_OF_CHUNK = 200
#: Passages of a document from which its main language is told.
_SAMPLES = 24
#: Confidence below which a language is not named.
_CONFIDENT = 0.5
#: Odds of a language other than the document's, before the text of the chunk is seen.
_FOREIGN = 0.05
#: Odds of a language in which documents are rarely written, against one of `_COMMON`.
_RARE = 0.1

_COMMON_CODES = (
    "af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk"
    " km kn ko lo lt lv mk ml mn mr ms my ne nl no pa pl pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur"
    " uz vi zh"
)
_COMMON = frozenset(_COMMON_CODES.split())

#: Scripts as character classes, with the languages that are written in each. One language: the script
#: tells it. `latin` has all that no other script has.
_SCRIPTS: dict[str, tuple[str, str]] = {
    "latin": (r"A-Za-zªºÀ-ÖØ-öø-ɏḀ-ỿ", ""),
    "cyrillic": (r"\u0400-\u052f", "ru uk be bg mk sr kk ky mn tg tt ba"),
    "greek": (r"\u0370-\u03ff\u1f00-\u1fff", "el"),
    "armenian": (r"\u0531-\u058f", "hy"),
    "hebrew": (r"\u0590-\u05ff", "he"),
    "arabic": (r"\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc", "ar fa ur ps ug"),
    "devanagari": (r"\u0900-\u097f", "hi mr ne sa"),
    "bengali": (r"\u0980-\u09ff", "bn as"),
    "gurmukhi": (r"\u0a00-\u0a7f", "pa"),
    "gujarati": (r"\u0a80-\u0aff", "gu"),
    "oriya": (r"\u0b00-\u0b7f", "or"),
    "tamil": (r"\u0b80-\u0bff", "ta"),
    "telugu": (r"\u0c00-\u0c7f", "te"),
    "kannada": (r"\u0c80-\u0cff", "kn"),
    "malayalam": (r"\u0d00-\u0d7f", "ml"),
    "sinhala": (r"\u0d80-\u0dff", "si"),
    "thai": (r"\u0e00-\u0e7f", "th"),
    "lao": (r"\u0e80-\u0eff", "lo"),
    "tibetan": (r"\u0f00-\u0fff", "bo"),
    "burmese": (r"\u1000-\u109f", "my"),
    "georgian": (r"\u10a0-\u10ff", "ka"),
    "ethiopic": (r"\u1200-\u137f", "am"),
    "khmer": (r"\u1780-\u17ff", "km"),
    "hangul": (r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af", "ko"),
    "kana": (r"\u3040-\u30ff\uff66-\uff9d", "ja"),
    "han": (r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", "zh"),
}
_RUN = re.compile("|".join(f"(?P<{name}>[{letters}]+)" for name, (letters, _) in _SCRIPTS.items()))
_LANGUAGES = {name: frozenset(codes.split()) for name, (_, codes) in _SCRIPTS.items()}
_ELSEWHERE = frozenset[str]().union(*_LANGUAGES.values())
#: What a letter of a script says: Latin names stand in texts of all languages, and one Chinese character
#: stands for several letters.
_WEIGHTS = {"latin": 1, "han": 4, "kana": 3, "hangul": 3}

# Code, addresses and numbers are in no language. Only ever applied to a bounded piece of text.
_NOISE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|(?:https?://|www\.)\S+|\S+@\S+|[\d_|#*<>\[\](){}=/\\~+]+", re.DOTALL
)

_lock = Lock()


class Detected(NamedTuple):
    #: ISO 639-1 code, "und" where it can't be told.
    language: str
    #: 0..1, of the best guess even where the language is "und".
    confidence: float


def load() -> None:
    """Load the model, once a process. Safe in any thread; call it off the event loop."""
    with _lock:
        _known()


@cache
def _known() -> frozenset[str]:
    """The languages of the model, which this loads."""
    return frozenset(code for code, _ in py3langid.rank("load"))


def detect(text: str) -> Detected:
    """The language of a text of any length, a short question included. Below a millisecond once loaded."""
    return _detect(text, None)


class LanguageTagger:
    """Tells the language of each chunk of a document, with the document's main language as a prior.

    A short or unclear chunk gets the main language; a clearly different one its own.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        votes: dict[str, float] = defaultdict(float)
        for text in texts[:: max(1, len(texts) // _SAMPLES)]:
            language, confidence = detect(text)
            if language != UNDETERMINED:
                votes[language] += confidence * min(len(text), _SAMPLE)
        #: The language of most of the document's text.
        self.main: str = max(votes, key=votes.__getitem__, default=UNDETERMINED)

    def tag(self, text: str) -> str:
        found = _detect(text, self.main).language
        return self.main if found == UNDETERMINED else found


def _detect(text: str, expected: str | None) -> Detected:
    size = _SAMPLE if expected is None else _SAMPLE_OF_CHUNK
    sample = _NOISE.sub(" ", text[: 3 * size])[:size]
    letters = _letters(sample)
    if not letters:
        return Detected(UNDETERMINED, 0.0)
    script = max(letters, key=letters.__getitem__)
    share = letters[script] / sum(letters.values())
    languages = _LANGUAGES[script]
    if len(languages) != 1:
        return _rank(sample, languages, expected)
    (language,) = languages
    return Detected(language if share >= _CONFIDENT else UNDETERMINED, share)


def _letters(text: str) -> Mapping[str, int]:
    """Letters of each script, weighted by how much one says."""
    if text.isascii():
        count = sum(map(str.isalpha, text))
        return {"latin": count} if count else {}
    letters = Counter[str]()
    for match in _RUN.finditer(text):
        script = match.lastgroup or "latin"
        letters[script] += (match.end() - match.start()) * _WEIGHTS.get(script, 2)
    # Japanese is written in both; a Chinese text may quote a name in kana.
    if letters["kana"] * 8 >= letters["han"] > 0 and letters["kana"]:
        letters["kana"] += letters.pop("han")
    return +letters


def _rank(text: str, languages: frozenset[str], expected: str | None) -> Detected:
    load()
    # The square root of the length as temperature is what py3langid uses to make its sums of
    # dependent evidence into probabilities.
    temperature = math.sqrt(len(text.encode("utf-8", "surrogatepass")))
    odds = _log_odds(languages, expected)
    scores = {c: score / temperature + odds[c] for c, score in py3langid.rank(text) if c in odds}
    best = max(scores, key=scores.__getitem__)
    confidence = 1 / sum(math.exp(score - scores[best]) for score in scores.values())
    return Detected(best if confidence >= _CONFIDENT else UNDETERMINED, confidence)


@lru_cache(maxsize=256)
def _log_odds(languages: frozenset[str], expected: str | None) -> Mapping[str, float]:
    """Logarithms of the odds of each language of a script, before its text is seen."""
    candidates = languages & _known() or {code for code in _known() - _ELSEWHERE if len(code) == 2}
    foreign = _FOREIGN if expected in candidates else 1.0
    return {
        code: math.log((1.0 if code in _COMMON else _RARE) * (1.0 if code == expected else foreign))
        for code in candidates
    }
