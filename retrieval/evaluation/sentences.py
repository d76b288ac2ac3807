"""An answer cut into its sentences, each with the labels of the sources that it cites."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from retrieval.answer.extractive.sentences import sentence_spans

_MARK = re.compile(r"\[([^\[\]\n]{1,80})\]")
_WORD = re.compile(r"\w")
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|\|)\s)")
_LEAD = re.compile(r"\A\s*(?:>\s*)*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)?")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    text: str
    labels: tuple[str, ...]


def cited_sentences(answer: str, labels: Collection[str]) -> list[CitedSentence]:
    """The sentences of an answer that claim something, without their marks.

    A sentence without a mark of its own has those of the next one in its paragraph, list item or row: a
    mark at the end of a paragraph stands for all of it. Lines that end with a colon only introduce.
    """
    found: list[CitedSentence] = []
    for block in _BLOCK.split(answer):
        waiting: list[str] = []
        for text, marks in _pieces(block, labels):
            if _WORD.search(text) and not text.rstrip("*_ ").endswith((":", "：")):
                waiting.append(text)
            if marks and waiting:
                found += [CitedSentence(sentence, marks) for sentence in waiting]
                waiting = []
            elif marks and found:
                found[-1] = CitedSentence(found[-1].text, (*found[-1].labels, *marks))
        found += [CitedSentence(sentence, ()) for sentence in waiting]
    return found


def _pieces(block: str, labels: Collection[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Sentences and their marks; a mark after the full stop belongs to the sentence before it."""
    if block.lstrip().startswith(("|", "```")):
        spans = [(0, len(block))]
    else:
        spans = sentence_spans(block)
    pieces: list[tuple[str, tuple[str, ...]]] = []
    for start, end in spans:
        text = block[start:end]
        while pieces and (leading := _MARK.match(text)) and leading[1] in labels:
            before, marks = pieces[-1]
            pieces[-1] = before, (*marks, leading[1])
            text = text[leading.end() :].lstrip()
        marks = tuple(dict.fromkeys(m[1] for m in _MARK.finditer(text) if m[1] in labels))
        bare = _MARK.sub(lambda m: "" if m[1] in labels else m[0], text)
        bare = " ".join((_LEAD.sub("", bare) if start == spans[0][0] else bare).split())
        if bare or marks:
            pieces.append((bare, marks))
    return pieces
