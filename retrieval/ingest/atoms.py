"""Atoms: the smallest pieces of a document that a chunk holds whole."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from retrieval.ingest.tokens import estimate


class Cut(IntEnum):
    """How well a text can be cut in front of an atom, best first."""

    BLOCK = 0  # between paragraphs, lists, tables, code blocks
    ITEM = 1  # between list items, table rows, paragraphs of code
    SENTENCE = 2  # between sentences, nested items, lines of code
    CLAUSE = 3  # at a comma or a line end inside a sentence
    WORD = 4
    ANYWHERE = 5  # between two characters as a reader sees them


class Frame(NamedTuple):
    """What stands around the atoms of one block in every chunk that holds some of them."""

    #: A table's header rows, the opening fence of code, the key of a record.
    opening: str
    #: The closing fence; empty for the others.
    closing: str
    tokens: int

    @classmethod
    def of(cls, opening: str, closing: str = "") -> Frame:
        return cls(opening, closing, estimate(opening) + estimate(closing))


class Atom(NamedTuple):
    text: str
    tokens: int
    cut: Cut
    #: What stands between this atom and the one before it where a chunk holds both.
    joint: str
    frame: Frame | None = None


def render(atoms: list[Atom]) -> str:
    """The Markdown of some consecutive atoms, each run of a frame inside its frame."""
    parts: list[str] = []
    frame: Frame | None = None
    for atom in atoms:
        if atom.frame is frame:
            parts += (atom.joint, atom.text)
            continue
        if frame is not None and frame.closing:
            parts += ("\n", frame.closing)
        parts.append(atom.joint)
        if atom.frame is not None:
            parts += (atom.frame.opening, "\n")
        parts.append(atom.text)
        frame = atom.frame
    if frame is not None and frame.closing:
        parts += ("\n", frame.closing)
    # The joint in front of the first atom belongs to the chunk before. Indentation stays: it may be code.
    return "".join(parts[1:]).rstrip().lstrip("\n")
