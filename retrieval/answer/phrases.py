"""What the bot says of itself, in the asker's language where `data/phrases.toml` has it."""

from __future__ import annotations

from typing import Literal, cast

from retrieval.answer.language import language_of
from retrieval.answer.lexicon import load
from retrieval.answer.protocol import CannedKey
from retrieval.answer.wording import sayings_of

#: Lines inside an answer, besides the replies that stand for one.
LeadKey = Literal["documents_say", "closest"]

_FALLBACK = "en"


class PhraseBook:
    """`CannedReplies` from a file of phrases."""

    def reply(self, key: CannedKey | LeadKey, *, text: str, language: str | None = None) -> str:
        """One short friendly text, in `language` if given, else in that of `text`, else English."""
        phrases = cast("dict[str, str]", load("phrases")[key])
        return phrases.get(_primary(language or _language(text)), phrases[_FALLBACK])


def _language(text: str) -> str:
    """Of a greeting or a wish by its phrases, which are often too short for anything else."""
    said = sayings_of(text)
    guessed = language_of(text)
    spoken = [each.language for each in said]
    if spoken and guessed not in spoken:
        return spoken[0]
    return guessed or _FALLBACK


def _primary(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].lower()
