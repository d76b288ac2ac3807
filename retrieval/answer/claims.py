"""The sentence that a citation mark supports."""

from __future__ import annotations

import re

from retrieval.answer.extractive.sentences import sentence_spans

_LIST_MARK = re.compile(r"\s*(?:>\s*)*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)?")
_FORMATTING = re.compile(r"[*`|]+|(?<!\w)_+|_+(?!\w)")
_WORD = re.compile(r"\w")


def claim_at(text: str, position: int) -> str:
    """The sentence at `position` of an answer without its marks, free of Markdown.

    That is the last sentence that begins before the mark on its line; for a mark at the head of a
    line the sentence after it; for a mark alone on its line the last sentence above.
    """
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    start = min(start + len(_LIST_MARK.match(text[start:end])[0]), end)  # pyright: ignore[reportOptionalSubscript]
    spans = [span for span in sentence_spans(text, start, end) if _WORD.search(text, *span)]
    before = [span for span in spans if span[0] < position]
    if before:
        return _bare(text[slice(*before[-1])])
    if spans:
        return _bare(text[slice(*spans[0])])
    for line in reversed(text[:start].splitlines()):
        if _WORD.search(line):
            return claim_at(line, len(line))
    return ""


def _bare(text: str) -> str:
    return " ".join(_FORMATTING.sub(" ", text).split())
