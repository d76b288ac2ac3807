"""Packing atoms under one heading into chunks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from retrieval.ingest.atoms import Atom, Cut, render


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
            total = self._sizes()[-1]
            yield self._cut(len(self._atoms) if total <= self._budget else self._best(total))

    @property
    def last(self) -> Atom | None:
        """The atom that the next one will follow in the same chunk or the next, under the same heading."""
        return self._atoms[-1] if self._atoms else None

    def _best(self, total: int | None) -> int:
        """How many atoms the next chunk takes. `total`: tokens of all at hand, where no more will come."""
        sizes = self._sizes()
        best, best_rank = 0, (9, False, 0, 0)
        block_end = sizes[-1]  # of the block that begins at atom i
        for i in range(len(self._atoms) - 1, 0, -1):
            size, cut = sizes[i], self._atoms[i].cut
            rest = block_end - size
            if cut is Cut.BLOCK:
                block_end = size
            if size < self._minimum or (total is not None and total - size < self._minimum):
                continue
            over = size > self._budget
            if over and (cut is not Cut.BLOCK or size >= self._budget + self._minimum):
                continue
            # A chunk less than half full is well cut only in front of a block that stays whole by it.
            early = 2 * size < self._budget and (cut is not Cut.BLOCK or rest > self._budget)
            # The last two chunks share evenly what is left; the others are as full as can be.
            uneven = abs(2 * size - total) if total is not None and total <= 2 * self._budget else 0
            rank = (cut + 3 * early, over, uneven, -size)
            if rank < best_rank:
                best, best_rank = i, rank
        if best:
            return best
        if total is not None and total < self._budget + self._minimum:
            return len(self._atoms)
        return self._fullest(sizes)

    def _fullest(self, sizes: list[int]) -> int:
        """As many atoms as the budget holds, at least one."""
        return max(1, bisect_right(sizes, self._budget) - 1)

    def _sizes(self) -> list[int]:
        """Tokens of a chunk of the first 0, 1, 2 ... atoms at hand."""
        sizes, size, frame = [0], 0, None
        for atom in self._atoms:
            size += atom.tokens
            if atom.frame is not None and atom.frame is not frame:
                size += atom.frame.tokens
            frame = atom.frame
            sizes.append(size)
        return sizes

    def _cut(self, count: int) -> Passage:
        atoms, pages = self._atoms[:count], [p for p in self._pages[:count] if p is not None]
        del self._atoms[:count], self._pages[:count]
        self._tokens -= sum(atom.tokens for atom in atoms)
        first, last = (min(pages), max(pages)) if pages else (None, None)
        return Passage(render(atoms), self._path, first, last)
