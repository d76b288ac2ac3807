"""Documents and search hits as blocks, for `/kb` and the Home tab. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adapters.conversation import place_in
from adapters.listing import PAGE, document_line, page_of, status
from adapters.markdown import is_web
from adapters.ports import DocumentView, SearchHit
from adapters.short import cut16
from adapters.slack import limits
from adapters.slack.kit import Json, escape, one_line, plain, section
from adapters.slack.render import SlackMessage, plain_text

NOTHING: Final = "There are no documents yet. /kb upload adds some."
#: `action_id`s: the value is a document's id; a page's number; nothing.
DELETE, LIST_PAGE, CANCEL = "kb_delete", "kb_page", "kb_cancel"
_TITLE, _SNIPPET, _LINE = 120, 280, 400
_SCORES: Final = 4


def document_block(document: DocumentView, number: int | None = None) -> Json:
    """With a button that deletes it, where the person may."""
    line = document_line(document, number)
    block = section(line)
    if document.editable:
        block["accessory"] = delete_button(document, ask=True)
    return block


def delete_button(document: DocumentView, *, ask: bool) -> Json:
    """`ask`: Slack asks whether it is meant."""
    button: Json = {
        "type": "button",
        "action_id": DELETE,
        "text": plain_text("Delete"),
        "style": "danger",
        "value": document.document_id,
    }
    if ask:
        name = cut16(document.name, _TITLE)
        button["confirm"] = {
            "title": plain_text("Delete this document?"),
            "text": plain(f"“{name}” will be gone for everybody.", limits.CONFIRM_TEXT),
            "confirm": plain_text("Delete"),
            "deny": plain_text("Keep it"),
            "style": "danger",
        }
    return button


def list_message(documents: Sequence[DocumentView], page: int = 1) -> SlackMessage:
    """One page of the documents; a page that is not there is the nearest one."""
    if not documents:
        return _message(NOTHING, [])
    shown = page_of(documents, page)
    blocks = [document_block(document, number) for number, document in shown.documents]
    turns = [("Previous", shown.previous)] if shown.previous is not None else []
    turns += [("Next", shown.following)] if shown.following is not None else []
    if turns:
        blocks.append({"type": "actions", "elements": [_page_button(*turn) for turn in turns]})
    return _message(shown.head, blocks, [document_line(one, number) for number, one in shown.documents])


def _page_button(label: str, page: int) -> Json:
    return {
        "type": "button",
        "action_id": f"{LIST_PAGE}:{page}",
        "text": plain_text(label),
        "value": str(page),
    }


def status_message(documents: Sequence[DocumentView]) -> SlackMessage:
    """What is on its way, and what failed."""
    if not documents:
        return _message(NOTHING, [])
    head, lines = status(documents)
    return _message(head, [section(line) for line in lines], lines)


def confirm_message(document: DocumentView) -> SlackMessage:
    """The question before a document is deleted."""
    head = f"Delete “{cut16(document.name, _TITLE)}”? It will be gone for everybody."
    keep: Json = {"type": "button", "action_id": CANCEL, "text": plain_text("Keep it")}
    return _message(head, [{"type": "actions", "elements": [delete_button(document, ask=False), keep]}])


def choose_message(documents: Sequence[DocumentView]) -> SlackMessage:
    """Which of several is meant."""
    shown = documents[:PAGE]
    blocks = [document_block(document) for document in shown]
    return _message("Which one?", blocks, [document_line(document) for document in shown])


def hit_block(hit: SearchHit) -> Json:
    """One passage: rank, title as a link, place, score, rank in each list; then its first words."""
    title = one_line(hit.title, _TITLE) or "Untitled"
    url = hit.url
    linked: Json = {"type": "text", "text": title, "style": {"bold": True}}
    if url is not None and is_web(url) and len(url) <= limits.URL:
        linked = {"type": "link", "url": url, "text": title, "style": {"bold": True}}
    place = one_line(place_in(hit.name, hit.page, None, hit.heading_path), _TITLE)
    lists = ", ".join(f"{one_line(name, 20)} {rank}" for name, (rank, _) in hit.lists.items())
    facts = [place, f"score {hit.score:.{_SCORES}f}", lists]
    elements: list[Json] = [
        {"type": "text", "text": f"{hit.rank}. "},
        linked,
        {"type": "text", "text": " · " + " · ".join(filter(None, facts))},
    ]
    if snippet := one_line(hit.text, _SNIPPET):
        elements.append({"type": "text", "text": f"\n{snippet}"})
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def hits_message(words: str, hits: Sequence[SearchHit]) -> SlackMessage:
    """What a search has found."""
    about = cut16(words, _TITLE)
    if not hits:
        return _message(f"Nothing found for “{about}”. Other words may do better.", [])
    lines = [f"{hit.rank}. {one_line(hit.title, _TITLE)}: {one_line(hit.text, _SNIPPET)}" for hit in hits]
    return _message(f"The best passages for “{about}”:", [hit_block(hit) for hit in hits], lines)


def _message(head: str, blocks: list[Json], lines: Sequence[str] = ()) -> SlackMessage:
    text = cut16(escape("\n".join([head, *lines])), limits.TEXT)
    return SlackMessage(text=text, blocks=[section(head), *blocks])
