"""Packing atoms under one heading into chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from retrieval.ingest.atoms import Atom, Cut, Frame, render


class Passage(NamedTuple):
    """The text of a chunk and where it stands."""

    text: str
    heading_path: tuple[str, ...]
    #: First and last page, 1-based; None where the format has no pages.
    page: int | None
    page_end: int | None


class Packer:
    """Fills chunks up to `budget` tokens and cuts where the text is cut best.

    Among the places where a chunk could end, the best kind (`Cut`) wins, then the fullest chunk. A chunk
    goes over the budget, by less than `minimum`, only where it would otherwise leave a bit shorter than
    `minimum` alone or cut a block that fits in a chunk. Atoms hold at most `budget` tokens, frame included.
    """

    def __init__(self, budget: int, minimum: int) -> None:
        self._budget = budget
        self._minimum = minimum
        self._path: tuple[str, ...] = ()
        self._atoms: list[Atom] = []
        self._pages: list[int | None] = []
        self._tokens = 0  # of the atoms, frames not counted

    def begin(self, path: tuple[str, ...]) -> Iterator[Passage]:
        """Finish what stands under the present heading; what follows stands under `path`."""
        if path != self._path:
            yield from self.finish()
            self._path = path

    def add(self, atom: Atom, page: int | None) -> Passage | None:
        """Take an atom; a passage, once there is enough for one."""
        self._atoms.append(atom)
        self._pages.append(page)
        self._tokens += atom.tokens
        # With two budgets' worth at hand no cut leaves a short rest.
        if self._tokens > 2 * self._budget + self._minimum:
            return self._cut(self._best(None))
        return None

    def finish(self) -> Iterator[Passage]:
        while self._atoms:
            total = self._measure()
            end = len(self._atoms)
            yield self._cut(end if total <= self._budget else self._best(total))

    @property
    def last(self) -> Atom | None:
        """The atom that the next one will follow in the same chunk or the next, under the same heading."""
        return self._atoms[-1] if self._atoms else None

    def _measure(self) -> int:
        """Tokens of all atoms at hand as one chunk."""
        total, frame = 0, None
        for atom in self._atoms:
            total += _cost(atom, frame)
            frame = atom.frame
        return total

    def _best(self, total: int | None) -> int:
        """How many atoms the next chunk takes. `total`: tokens of all at hand, where no more will come."""
        budget, minimum = self._budget, self._minimum
        limit = budget + minimum
        best, best_rank = 0, (9, 0, 0)
        size, frame = 0, None
        for i, atom in enumerate(self._atoms):
            if i and minimum <= size and (total is None or total - size >= minimum):
                rank = self._rank(atom.cut, size, total)
                if rank is not None and rank < best_rank:
                    best, best_rank = i, rank
            size += _cost(atom, frame)
            frame = atom.frame
            if size >= limit:
                break
        if best:
            return best
        if total is not None and total < limit:
            return len(self._atoms)
        return self._fullest()

    def _rank(self, cut: Cut, size: int, total: int | None) -> tuple[int, int, int] | None:
        """How good it is to end a chunk of `size` tokens here, smaller is better; None: not allowed."""
        over = size > self._budget
        if over and cut is not Cut.BLOCK:
            return None
        # Within a block, a chunk that is less than half full would be cut for nothing.
        early = cut > Cut.BLOCK and 2 * size < self._budget
        # The last two chunks share evenly what is left; the others are as full as can be.
        even = total is not None and total <= 2 * self._budget
        fullness = abs(2 * size - total) if even and total is not None else -size
        return (cut + 2 * early, over, fullness)

    def _fullest(self) -> int:
        """As many atoms as the budget holds, at least one."""
        size, frame = 0, None
        for i, atom in enumerate(self._atoms):
            size += _cost(atom, frame)
            frame = atom.frame
            if size > self._budget:
                return max(i, 1)
        return len(self._atoms)

    def _cut(self, count: int) -> Passage:
        atoms, pages = self._atoms[:count], [p for p in self._pages[:count] if p is not None]
        del self._atoms[:count], self._pages[:count]
        self._tokens -= sum(atom.tokens for atom in atoms)
        first, last = (min(pages), max(pages)) if pages else (None, None)
        return Passage(render(atoms), self._path, first, last)


def _cost(atom: Atom, frame: Frame | None) -> int:
    """Tokens that an atom adds after one in `frame`."""
    if atom.frame is None or atom.frame is frame:
        return atom.tokens
    return atom.tokens + atom.frame.tokens
