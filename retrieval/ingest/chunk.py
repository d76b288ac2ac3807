"""From parsed text to chunks: a few hundred tokens each, cut where the text is cut best."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.documents import Chunk, DocumentMeta, ParsedDocument, Section, chunk_id
from retrieval.ingest.atoms import Atom, Cut
from retrieval.ingest.blocks import MAX_HEADING, Code, Heading, Row, Scanner, Text
from retrieval.ingest.clean import clean_document, clean_line
from retrieval.ingest.language import LanguageTagger
from retrieval.ingest.pack import Packer, Passage
from retrieval.ingest.split import split
from retrieval.ingest.tables import row_atoms
from retrieval.ingest.tokens import estimate

#: Tokens that a chunk holds at most, and fewer than which are not left alone where it can be helped.
BUDGET = 350
MINIMUM = 80
#: Headings of a path that are kept, the innermost ones.
MAX_DEPTH = 12

#: Lines are read in parts of about this many characters, so that no step takes long.
_PART = 65_536

_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\[\]\s<>]{0,2000}\)")
_MARKS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|\\(?=[^\w\s])")
_WORDS = re.compile(r"[^\W_]|[^\x00-\x7f]")


def chunk(
    parsed: ParsedDocument, meta: DocumentMeta, *, budget: int = BUDGET, minimum: int = MINIMUM
) -> list[Chunk]:
    """The chunks of a document, in order, without its summary. No chunks: no text.

    A chunk has at most `budget` estimated tokens; see `Packer` for the one case of up to `minimum` more.
    Ids and ordinals depend on the version and the text only. Linear in the text. To chunk without holding
    up an event loop, iterate over `passages` instead.
    """
    steps = passages(clean_document(parsed), budget=budget, minimum=minimum)
    found = [p for p in steps if p is not None and has_words(p.text)]
    tagger = LanguageTagger([p.text for p in found])
    return [to_chunk(p, meta, ordinal, tagger.tag(p.text)) for ordinal, p in enumerate(found)]


def to_chunk(passage: Passage, meta: DocumentMeta, ordinal: int, language: str) -> Chunk:
    return Chunk(
        chunk_id=chunk_id(meta.version_id, ordinal),
        meta=meta,
        ordinal=ordinal,
        text=passage.text,
        heading_path=passage.heading_path,
        page=passage.page,
        page_end=passage.page_end,
        language=language,
    )


def has_words(text: str) -> bool:
    """Whether anything in a text could be searched for."""
    return _WORDS.search(text) is not None


def passages(
    parsed: ParsedDocument, *, budget: int = BUDGET, minimum: int = MINIMUM
) -> Iterator[Passage | None]:
    """The passages of a document whose text is clean already.

    Lazy: each step takes a few milliseconds, so that an event loop can run between them. None is a step
    that found nothing, as in a long run of rulers.
    """
    if budget < 32 or not 0 <= minimum <= budget // 2:
        raise ValueError("a chunk needs a budget of 32 tokens or more, and a minimum of half that or less")
    return _Outline(budget, minimum).read(parsed)


class _Outline:
    """Follows the headings of a document, those of its sections and those inside them."""

    def __init__(self, budget: int, minimum: int) -> None:
        self._budget = budget
        self._packer = Packer(budget, minimum)
        self._base: tuple[str, ...] = ()
        self._inner: list[Heading] = []
        self._path: tuple[str, ...] = ()
        #: The path of a heading that has no text yet, and its page.
        self._bare: tuple[tuple[str, ...], int | None] = (), None

    def read(self, parsed: ParsedDocument) -> Iterator[Passage | None]:
        for section in parsed.sections:
            yield from self._section(section)
        self._base, self._inner = (), []
        yield from self._open(None)
        yield from self._packer.finish()

    def _section(self, section: Section) -> Iterator[Passage | None]:
        path = tuple(h for h in map(plain_heading, section.heading_path) if h)
        if path != self._base:
            self._base, self._inner = path, []
            yield from self._open(section.page)
        fresh = True  # parsers differ in whether a section's text begins with its own headings
        for block in Scanner(_lines(section.markdown)):
            if block is None:
                yield None
                continue
            if isinstance(block, Heading):
                heading = Heading(block.level, plain_heading(block.text))
                if not heading.text or (fresh and heading.text in self._base):
                    continue
                while self._inner and self._inner[-1].level >= heading.level:
                    self._inner.pop()
                self._inner.append(heading)
                yield from self._open(section.page)
                continue
            yield from self._packer.begin(self._path)
            self._bare = (), None
            for atom in self._atoms(block, fresh):
                if passage := self._packer.add(atom, section.page):
                    yield passage
            fresh = False

    def _open(self, page: int | None) -> Iterator[Passage | None]:
        """Come to a heading. One that had no text, nor headings under it, becomes text itself."""
        path = self._path = (self._base + tuple(h.text for h in self._inner))[-MAX_DEPTH:]
        (bare, bare_page), self._bare = self._bare, (path, page)
        if bare and path[: len(bare)] != bare:
            text = "#" * min(len(bare), 6) + " " + bare[-1]
            yield from self._packer.begin(bare[:-1])
            if passage := self._packer.add(Atom(text, estimate(text), Cut.ITEM, "\n\n"), bare_page):
                yield passage
        yield None

    def _atoms(self, block: Text | Row | Code, fresh: bool) -> Iterator[Atom]:
        if isinstance(block, Row):
            yield from row_atoms(block, self._budget)
        elif isinstance(block, Code):
            yield from code_atoms(block, self._budget)
        else:
            cut, joint = block.cut, block.joint
            if fresh and _runs_on(self._packer.last, block.text):
                cut, joint = Cut.CLAUSE, "\n"
            for piece in split(block.text, self._budget, cut):
                yield Atom(piece.text, piece.tokens, piece.cut, joint)
                joint = ""


def code_atoms(block: Code, budget: int) -> Iterator[Atom]:
    """Lines of code, each chunk's share inside the same fence (where that leaves room for code)."""
    fence = block.fence if 2 * block.fence.tokens <= budget else None
    joint = block.joint
    for piece in split(block.text, budget - (fence.tokens if fence else 0), block.cut):
        yield Atom(piece.text, piece.tokens, piece.cut, joint, fence)
        joint = ""


def plain_heading(text: str) -> str:
    """A heading without Markdown marks, on one line."""
    return clean_line(_MARKS.sub("", _LINK.sub(r"\1", text[: 8 * MAX_HEADING])), MAX_HEADING)


def _runs_on(before: Atom | None, text: str) -> bool:
    """Whether a paragraph goes on over a page break."""
    if before is None or before.frame is not None:
        return False
    end, start = before.text.rstrip()[-1:], text.lstrip()[:1]
    return start.islower() and (end.isalnum() or end in ",;-–")


def _lines(markdown: str) -> Iterator[str]:
    start = 0
    while start < len(markdown):
        stop = markdown.find("\n", start + _PART)
        stop = len(markdown) if stop < 0 else stop
        yield from markdown[start:stop].split("\n")
        start = stop + 1
