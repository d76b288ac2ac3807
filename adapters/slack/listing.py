"""Documents and search hits as blocks, for `/kb` and the Home tab. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adapters.conversation import place_in
from adapters.markdown import is_web
from adapters.ports import DocumentView, SearchHit
from adapters.slack import limits
from adapters.slack.kit import Json, cut16, escape, one_line, plain, section
from adapters.slack.progress import item_line, stage_words
from adapters.slack.render import SlackMessage, plain_text

#: Documents on a page of `/kb list`.
PAGE: Final = 10
#: `action_id`s: the value is a document's id; a page's number; nothing.
DELETE, LIST_PAGE, CANCEL = "kb_delete", "kb_page", "kb_cancel"
_TITLE, _SNIPPET, _LINE = 120, 280, 400
_SCORES: Final = 4


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
    name = cut16(" ".join(document.name.split()), _TITLE) or "Untitled"
    head = f"{number}. " if number is not None else ""
    return cut16(head + " · ".join([name, *facts]), _LINE)


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
        return _message("There are no documents yet. /kb upload adds some.", [])
    pages = -(-len(documents) // PAGE)
    page = max(1, min(page, pages))
    first = (page - 1) * PAGE
    shown = documents[first : first + PAGE]
    head = f"{len(documents)} document{'' if len(documents) == 1 else 's'}"
    if pages > 1:
        head += f", page {page} of {pages}"
    blocks = [document_block(document, first + n) for n, document in enumerate(shown, 1)]
    turns = [("Previous", page - 1)] if page > 1 else []
    turns += [("Next", page + 1)] if page < pages else []
    if turns:
        blocks.append({"type": "actions", "elements": [_page_button(*turn) for turn in turns]})
    lines = [document_line(document, first + n) for n, document in enumerate(shown, 1)]
    return _message(head, blocks, lines)


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
        return _message("There are no documents yet. /kb upload adds some.", [])
    busy = [document.state for document in documents if not document.state.finished]
    failed = [document.state for document in documents if document.state.stage == "failed"]
    ready = len(documents) - len(busy) - len(failed)
    parts = [f"{ready} ready"]
    parts += [f"{len(busy)} on the way"] if busy else []
    parts += [f"{len(failed)} failed"] if failed else []
    lines = [item_line(item) for item in [*busy, *failed]]
    if len(lines) > PAGE:
        lines = [*lines[:PAGE], f"And {len(lines) - PAGE} more."]
    return _message(f"Documents: {', '.join(parts)}.", [section(line) for line in lines], lines)


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
