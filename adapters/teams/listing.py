"""Documents and search hits on cards, as messages and in dialogs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adapters.conversation import place_in
from adapters.listing import PAGE, document_line, page_of, status
from adapters.ports import DocumentView, SearchHit
from adapters.teams.card import (
    Json,
    actions,
    beside,
    heading,
    is_https,
    line,
    one_line,
    run,
    submit,
    whole,
    words,
)

#: Kinds of clicks; the data holds a document's id or a page's number.
DELETE, DELETE_NOW, KEEP, LIST_PAGE = "delete", "delete_now", "keep", "page"
NOTHING: Final = "There are no documents yet. Attach files to a message to me, and I add them."
_TITLE, _SNIPPET = 120, 280


def list_card(documents: Sequence[DocumentView], page: int = 1) -> Json:
    """One page of the documents; a page that is not there is the nearest one."""
    if not documents:
        return whole([words(NOTHING)])
    shown = page_of(documents, page)
    body = [heading(shown.head), *(document_row(one, number) for number, one in shown.documents)]
    turns = [("Previous", shown.previous), ("Next", shown.following)]
    body += actions([submit(title, LIST_PAGE, page=to) for title, to in turns if to is not None])
    return whole(body)


def document_row(document: DocumentView, number: int) -> Json:
    """With a button that deletes it, where the person may."""
    block = words(document_line(document, number))
    if not document.editable:
        return block
    return beside(block, submit(f"Delete {number}", DELETE, document=document.document_id))


def status_card(documents: Sequence[DocumentView]) -> Json:
    """What is on its way, and what failed."""
    if not documents:
        return whole([words(NOTHING)])
    head, lines = status(documents)
    return whole([heading(head), *map(words, lines)])


def confirm_card(document: DocumentView) -> Json:
    """The question before a document is deleted."""
    name = one_line(document.name, _TITLE)
    buttons = [submit("Delete", DELETE_NOW, document=document.document_id), submit("Keep it", KEEP)]
    return whole([words(f"Delete “{name}”? It will be gone for everybody."), *actions(buttons)])


def choose_card(documents: Sequence[DocumentView]) -> Json:
    """Which of several is meant."""
    rows = [document_row(document, number) for number, document in enumerate(documents[:PAGE], 1)]
    return whole([heading("Which one?"), *rows])


def hits_card(sought: str, hits: Sequence[SearchHit]) -> Json:
    """What a search has found."""
    about = one_line(sought, _TITLE)
    if not hits:
        return whole([words(f"Nothing found for “{about}”. Other words may do better.")])
    body = [heading(f"The best passages for “{about}”:")]
    for hit in hits:
        body.append(_hit(hit))
        if snippet := one_line(hit.text, _SNIPPET):
            body.append(words(snippet))
    return whole(body)


def _hit(hit: SearchHit) -> Json:
    """Rank, title as a link, place, score, rank in each list."""
    title = one_line(hit.title, _TITLE) or "Untitled"
    place = one_line(place_in(hit.name, hit.page, None, hit.heading_path), _TITLE)
    lists = ", ".join(f"{one_line(name, 20)} {rank}" for name, (rank, _) in hit.lists.items())
    facts = " · ".join(filter(None, (place, f"score {hit.score:.4f}", lists)))
    url = hit.url if is_https(hit.url) else None
    return line(run(f"{hit.rank}. "), run(title, "bold", url=url), run(f" · {facts}", "quiet"))
