"""What a page is made of, counted before anything of it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

#: Elements whose text nobody reads.
UNREAD = frozenset({
    "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "button", "select",
    "textarea", "rp", "rt", "dialog", "math", "audio", "video", "head",
})  # fmt: skip
#: Parts of a page that are about the site and not about its subject.
CHROME = frozenset({"nav", "header", "footer", "aside", "menu"})
_MAIN = frozenset({"main", "article"})
_DATE_NAMES = (
    "article:modified_time", "article:published_time", "dcterms.modified", "dcterms.created", "dc.date",
    "dcterms.date", "last-modified", "date", "datepublished", "datemodified",
)  # fmt: skip


@dataclass(slots=True)
class Census:
    """A target for `lxml.etree.HTMLParser`. Lengths in characters of text."""

    text: int = 0
    chrome: int = 0
    main: int = 0
    linked: int = 0
    depth: int = 0
    title: str = ""
    base: str = ""
    #: What meta elements state, by name.
    meta: dict[str, str] = field(default_factory=dict[str, str])
    _open: list[str] = field(default_factory=list[str])
    _count: Counter[str] = field(default_factory=Counter[str])

    @property
    def date(self) -> str | None:
        return next((self.meta[name] for name in _DATE_NAMES if name in self.meta), None)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._open.append(tag)
        self.depth = max(self.depth, len(self._open))
        for group, members in (("unread", UNREAD), ("chrome", CHROME), ("main", _MAIN), ("a", ("a",))):
            self._count[group] += tag in members
        if tag == "meta":
            name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
            self.meta.setdefault(name.lower(), attributes.get("content", ""))
        elif tag == "base" or (tag == "link" and attributes.get("rel") == "canonical"):
            self.base = self.base or attributes.get("href", "")

    def end(self, tag: str) -> None:
        self._open.pop()
        for group, members in (("unread", UNREAD), ("chrome", CHROME), ("main", _MAIN), ("a", ("a",))):
            self._count[group] -= tag in members

    def data(self, text: str) -> None:
        if (
            self._open
            and self._open[-1] == "title"
            and not self._count["chrome"]
            and len(self.title) < 1000
        ):
            self.title += text
        if self._count["unread"]:
            return
        length = len(text.strip())
        self.text += length
        self.chrome += length if self._count["chrome"] else 0
        self.main += length if self._count["main"] else 0
        self.linked += length if self._count["a"] else 0

    def close(self) -> Census:
        return self
