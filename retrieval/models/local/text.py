"""Text as the model's own SentencePiece normaliser (nmt_nfkc) leaves it."""

from __future__ import annotations

import re
import unicodedata

#: Lone surrogates stand for nothing; NUL and the other C1 controls are not in the model's table.
_DROPPED = re.compile("[\x00\x80-\x84\x86-\x9f\ud800-\udfff]")
#: Letters with marks of their own (as macOS and many PDF files write "é") and Hangul in parts.
_DECOMPOSED = re.compile("\\w?[\u0300-\u036f\u3099\u309a]+|[\u1100-\u11ff]+")
_SPACES = re.compile(" {2,}|\x85")


def clean(text: str, normalised: dict[int, str], limit: int) -> str:
    """The normalised text in at most `limit` characters, single spaces, none at its ends.

    `normalised` is the model's table of single code points. What its rules for sequences did, composing
    letters with their marks, is done by NFC on such sequences only: NFC on everything would reorder Arabic
    and Burmese marks into an order that the vocabulary does not have.
    """
    text = _DROPPED.sub("", text[:limit]).translate(normalised)
    text = _DECOMPOSED.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)
    return _SPACES.sub(" ", text).strip(" ")[:limit]
