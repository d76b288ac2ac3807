"""The outgoing text of an answer: final marks, tidy spaces, and what each mark stands behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.answer.claims import claim_at
from retrieval.answer.labels import LabelGrammar

_NO_SPACE_BEFORE = frozenset("\n.,;:!?)]}…。，、；：！？）」』】")


@dataclass(frozen=True, slots=True)
class Named:
    """A source that the answer names: its place in order of appearance and what it is named for."""

    number: int
    label: str
    claims: tuple[str, ...]


class MarkedText:
    """Collects text, spaces and marks in order; `drain` gives what is ready.

    Spaces are held back until it is clear that no removed label follows them. A "]" that would
    turn the text before it into a mark is escaped, so that only `marks` makes marks.
    """

    def __init__(self, grammar: LabelGrammar) -> None:
        self._grammar = grammar
        self._ready: list[str] = []
        self._gap = ""
        self._removed = False
        self._line_empty = True
        #: What was put out since the last "[", while short enough for a label.
        self._open: str | None = None
        self._plain: list[str] = []
        self._plain_length = 0
        self._marks: list[tuple[str, int]] = []
        self._numbers: dict[str, int] = {}

    def drain(self) -> str:
        text = "".join(self._ready)
        self._ready.clear()
        return text

    def put(self, text: str) -> None:
        """Text as it stands."""
        tidy = self._removed and (self._line_empty or text[0] in _NO_SPACE_BEFORE)
        self._close_gap(keep=not tidy)
        self._append(text)
        opening, closing = text.rfind("["), text.rfind("]")
        if opening > closing:
            self._open = text[opening + 1 :]
        elif closing >= 0:
            self._open = None
        elif self._open is not None:
            self._open += text
        if self._open is not None and len(self._open) > self._grammar.max_length:
            self._open = None

    def put_closing_bracket(self) -> None:
        """A "]" outside of code that closes no label."""
        self.put("\\]" if self._open is not None and self._grammar.is_label(self._open) else "]")

    def put_escaped(self, text: str) -> None:
        """Text whose brackets are escaped already."""
        self.put(text)
        self._open = None

    def space(self, spaces: str) -> None:
        """Spaces or tabs. Of those around a removed label only the latter stay."""
        if not self._removed:
            self._close_gap(keep=True)
        self._gap = spaces

    def marks(self, labels: Sequence[str]) -> None:
        """Citations, by their numbers in order of appearance or by their names."""
        numbers = {label: self._numbers.setdefault(label, len(self._numbers) + 1) for label in labels}
        shown = map(str, sorted(numbers.values())) if self._grammar.style == "numbers" else labels
        self._marks += [(label, self._plain_length) for label in labels]
        self._ready += [self._gap, *(f"[{label}]" for label in shown)]
        self._gap, self._removed, self._line_empty, self._open = "", False, False, None

    def remove(self) -> None:
        """An unknown label stood here."""
        self._removed = True

    def finish(self) -> None:
        self._close_gap(keep=not self._removed)

    @property
    def named(self) -> tuple[Named, ...]:
        plain = "".join(self._plain)
        at = {position: claim_at(plain, position) for position in {p for _, p in self._marks}}
        claims: dict[str, dict[str, None]] = {label: {} for label in self._numbers}
        for label, position in self._marks:
            if at[position]:
                claims[label][at[position]] = None
        return tuple(Named(n, label, tuple(claims[label])) for label, n in self._numbers.items())

    def _close_gap(self, *, keep: bool) -> None:
        gap, self._gap, self._removed = self._gap, "", False
        if not (gap and keep):
            return
        self._append(gap)
        if self._open is not None:
            self._open += gap

    def _append(self, text: str) -> None:
        self._ready.append(text)
        self._plain.append(text)
        self._plain_length += len(text)
        self._line_empty = text.endswith("\n")
