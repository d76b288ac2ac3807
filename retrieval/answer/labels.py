"""Which bracketed text names sources: `[1]`, `[2, 5]`, `[1-3]`, `[keys.md#2]`, `【1†source】`, ..."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.answer.protocol import LabelStyle

#: Longest text between brackets that is still looked at, where no label is longer.
MAX_GROUP = 60

_SEPARATORS = {
    "numbers": re.compile(r"\s*(?:[,;、，；&]|\band\b|\bund\b|\bet\b|\by\b)\s*|(?<=\d)\s+(?=\^?\d)"),
    "names": re.compile(r"\s*[,;、，；]\s*"),
}
_RANGE = re.compile(r"\^?(\d{1,3})(?:\s*[-‐‑–—]\s*\^?(\d{1,3}))?(?::\d{1,3})?(?:†.*)?\Z", re.DOTALL)
#: "source" and its like before a label.
_LEAD = re.compile(
    r"(?:sources?|src|refs?|docs?|documents?|quellen?|fuentes?|来源|來源|出典)[\s:.#]*", re.I | re.A
)
#: "p. 3" beside a label.
_PLACE = re.compile(
    r"(?:[,;:]\s*|\s+)(?:pp?|pages?|seiten?|s|sections?|l|lines?)\b\.?\s*\d+(?:\s*[-–]\s*\d+)?(?=\s*(?:[,;]|\Z))",
    re.I | re.A,
)
#: Words that may stand in a group of numbers, each between two spaces.
_WORDS = (
    " source sources src ref refs doc docs document documents quelle quellen fuente fuentes 来源 來源 出典"
    " and und et y p pp page pages seite seiten s section sections l line lines "
)
_NUMBER_TOKEN = re.compile(r"\d+|[^\W\d_]+|[\s,;、，；&:.#^‐‑–—-]+")
#: A name that no source has but that looks like a document's.
_FILE_NAME = re.compile(
    r"\w.*\.(?:md|markdown|txt|text|rst|pdf|docx?|odt|rtf|pptx?|odp|xlsx?|ods|csv|tsv|html?|xhtml|eml|msg|epub|json"
    r"|ya?ml|xml|log)(?:#\d+)?\Z",
    re.I,
)


class LabelGrammar:
    """Reads what stands between two brackets, for one set of labels.

    `labels` are those handed to the model, without brackets; names are compared without case.
    """

    def __init__(self, labels: Sequence[str], style: LabelStyle) -> None:
        self.style: LabelStyle = style
        self._known = {_folded(label): label for label in labels}
        longest = max((len(label) for label in labels), default=0)
        #: Longest single item, and longest group: all labels, separated.
        self._max_item = max(MAX_GROUP, longest + 10)
        self.max_length = max(MAX_GROUP, sum(len(label) + 3 for label in labels) + 20)

    def read(self, content: str) -> list[str] | None:
        """The known labels that `content` names, in order, each once; empty if it names unknown
        ones only (to be removed); None if it is no naming of sources at all."""
        if len(content) > self.max_length:
            return None
        content = content.strip()
        if whole := self._item(content):
            return whole
        found: list[str] = []
        for item in _SEPARATORS[self.style].split(_PLACE.sub("", content)):
            labels = self._item(item)
            if labels is None:
                return None
            found += labels
        return list(dict.fromkeys(found))

    def may_become(self, content: str) -> bool:
        """Whether more characters could turn `content`, read so far, into a naming of sources."""
        if len(content) > self.max_length:
            return False
        if "†" in content:
            return True
        if self.style == "names":
            *items, last = _SEPARATORS["names"].split(_PLACE.sub("", content))
            return len(last) <= self._max_item and all(self._item(i.strip()) is not None for i in items)
        position = 0
        for token in _NUMBER_TOKEN.finditer(content):
            if token.start() != position:
                return False
            position = token.end()
            text = token.group()
            if text.isdigit():
                if len(text) > 3:
                    return False
            elif text[0].isalpha():
                word = text.lower()
                if f" {word} " not in _WORDS and (position < len(content) or f" {word}" not in _WORDS):
                    return False
        return position == len(content)

    def is_label(self, text: str) -> bool:
        """Whether `[text]` would be taken for a citation by whoever renders the answer."""
        if self.style == "numbers":
            return text.isascii() and text.isdigit() and 1 <= int(text) <= len(self._known)
        return _folded(text) in self._known

    def _item(self, item: str) -> list[str] | None:
        if len(item) > self._max_item:
            return None
        bare = _LEAD.sub("", item, count=1).lstrip("^")
        for name in (item, bare):
            if (known := self._known.get(_folded(name))) is not None:
                return [known]
        numbers = _RANGE.match(bare)
        if numbers is not None:
            return self._range(int(numbers[1]), int(numbers[2] or numbers[1]))
        if self.style == "names" and _FILE_NAME.match(bare):
            return []
        return None

    def _range(self, first: int, last: int) -> list[str] | None:
        if first == 0 and last > 0:
            return None  # [0-9] is a character class
        numbers = range(min(first, last), max(first, last) + 1)
        return [self._known[str(n)] for n in numbers if str(n) in self._known]


def _folded(label: str) -> str:
    return " ".join(label.split()).casefold()
