"""The documents that a person may see, in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from adapters.markdown import cut
from adapters.ports import DocumentView
from adapters.progress import item_line, stage_words

#: Documents on a page of the list.
PAGE: Final = 10
_TITLE, _LINE = 120, 400


def document_line(document: DocumentView, number: int | None = None) -> str:
    """Such as `3. keys.md · done · 2 pages · handbook · hr, it`."""
    facts = [stage_words(document.state)]
    if document.pages:
        facts.append("1 page" if document.pages == 1 else f"{document.pages} pages")
    if document.version > 1:
        facts.append(f"version {document.version}")
    facts.append(document.knowledge_base)
    if document.labels:
        facts.append(", ".join(document.labels))
    name = cut(" ".join(document.name.split()), _TITLE) or "Untitled"
    head = f"{number}. " if number is not None else ""
    return cut(head + " · ".join([name, *facts]), _LINE)


@dataclass(frozen=True)
class Page:
    #: Such as `23 documents, page 2 of 3`.
    head: str
    #: With their numbers in the whole list.
    documents: tuple[tuple[int, DocumentView], ...]
    #: Numbers of the pages before and after it.
    previous: int | None
    following: int | None


def page_of(documents: Sequence[DocumentView], page: int) -> Page:
    """One page of the documents; a page that is not there is the nearest one."""
    pages = max(1, -(-len(documents) // PAGE))
    page = max(1, min(page, pages))
    first = (page - 1) * PAGE
    head = f"{len(documents)} document{'' if len(documents) == 1 else 's'}"
    return Page(
        head=f"{head}, page {page} of {pages}" if pages > 1 else head,
        documents=tuple(enumerate(documents[first : first + PAGE], first + 1)),
        previous=page - 1 if page > 1 else None,
        following=page + 1 if page < pages else None,
    )


def status(documents: Sequence[DocumentView]) -> tuple[str, list[str]]:
    """How many are ready, in a sentence; a line for each that is on its way, or has failed."""
    busy = [document.state for document in documents if not document.state.finished]
    failed = [document.state for document in documents if document.state.stage == "failed"]
    ready = len(documents) - len(busy) - len(failed)
    parts = [f"{ready} ready"]
    parts += [f"{len(busy)} on the way"] if busy else []
    parts += [f"{len(failed)} failed"] if failed else []
    lines = [item_line(item) for item in [*busy, *failed]]
    if len(lines) > PAGE:
        lines = [*lines[:PAGE], f"And {len(lines) - PAGE} more."]
    return f"Documents: {', '.join(parts)}.", lines


def find(documents: list[DocumentView], wanted: str) -> list[DocumentView]:
    """By the number in the list, or by name; else those whose name holds the words."""
    name = wanted.strip().strip("“”\"'").casefold()
    if name.removeprefix("#").isdecimal() and 0 < int(name.removeprefix("#")) <= len(documents):
        return [documents[int(name.removeprefix("#")) - 1]]
    exact = [d for d in documents if name in (d.name.casefold(), d.title.casefold())]
    return exact or [d for d in documents if name and name in d.name.casefold()]
