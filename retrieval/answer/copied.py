"""Bracketed numbers that an answer copied from a passage, such as "[12]" in a paper."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from retrieval.answer.labels import LabelGrammar

#: So many letters and digits before a bracket must be the same for it to count as copied ...
_CONTEXT = 16
#: ... or all there are, if at least so many.
_LEAST_CONTEXT = 6
#: Raw characters in which those letters are looked for.
WINDOW = 96

_GROUP = re.compile(r"\[([^\[\]\n]{1,80})\]|【([^【】\n]{1,80})】")
_SENTENCE = re.compile(r"[.!?]\s|[。！？\n]")
_NO_LETTERS = re.compile(r"[\W_]+")


class CopiedMarks:
    """Knows every bracket in the passages that reads like a label, and the words before it.

    A bracket in an answer is copied if the same bracket follows the same words in a passage, unless
    it names that very passage: then it is a citation in either reading.
    """

    def __init__(self, passages: Mapping[str, str], grammar: LabelGrammar) -> None:
        self._known: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for label, passage in passages.items():
            for group in _GROUP.finditer(passage):
                content = group[1] or group[2]
                before = _context(passage[max(0, group.start() - WINDOW) : group.start()])
                if len(before) >= _LEAST_CONTEXT and grammar.read(content) is not None:
                    self._known[_letters(content)].append((before, label))

    def holds(self, content: str, labels: list[str], before: str) -> bool:
        """Whether `[content]`, which names `labels`, is copied. `before`: `WINDOW` characters."""
        places = self._known.get(_letters(content))
        if not places:
            return False
        letters = _letters(before)
        owners = {label for context, label in places if letters.endswith(context)}
        return bool(owners) and owners.isdisjoint(labels)


def _context(before: str) -> str:
    """The last letters, those of the same sentence where they suffice."""
    sentence = _letters(_SENTENCE.split(before)[-1])
    return (sentence if len(sentence) >= _LEAST_CONTEXT else _letters(before))[-_CONTEXT:]


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()
