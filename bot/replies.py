"""What the pipeline yields, as adapters render it."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.conversation import Citation, Reply, ReplyKind, Turn
from bot.links import Links, Target
from retrieval.answer.events import CitedSource, Done, Outcome, Status

_KINDS: dict[Outcome, ReplyKind] = {
    "answered": "answer",
    "not_covered": "not_covered",
    "empty_knowledge_base": "notice",
    "small_talk": "notice",
    "invalid_question": "notice",
}


def status_text(status: Status) -> str:
    """What a person reads while they wait."""
    match status.kind:
        case "rephrasing":
            return "Reading the thread"
        case "searching":
            return "Searching your documents"
        case "reranking":
            return f"Comparing {status.count} passages"
        case "reading":
            return "Reading 1 source" if status.count == 1 else f"Reading {status.count} sources"
        case "writing":
            return "Writing"
        case "checking":
            return "Checking the sources"


def reply_of(
    turn: Turn, done: Done, links: Links, notes: Sequence[str] = (), *, sensitivity: str = ""
) -> Reply:
    """`notes` stand above those of the pipeline; what holds nothing of a document carries no label."""
    return Reply(
        turn_id=turn.id,
        kind=_KINDS[done.outcome],
        text=done.text,
        citations=tuple(citation_of(cited, links, turn.conversation.platform) for cited in done.citations),
        notes=(*notes, *done.notes),
        sensitivity=sensitivity if done.citations else "",
    )


def citation_of(cited: CitedSource, links: Links, platform: str) -> Citation:
    chunk, meta = cited.chunk, cited.chunk.meta
    start = max(0, chunk.text.find(cited.quote)) if cited.quote else 0
    target = Target(
        meta.workspace,
        meta.document_id,
        meta.version_id,
        chunk.chunk_id,
        start,
        start + len(cited.quote),
    )
    return Citation(
        number=cited.number,
        label=cited.label,
        title=meta.title,
        document_id=meta.document_id,
        version_id=meta.version_id,
        version=meta.version,
        chunk_id=chunk.chunk_id,
        name=meta.name,
        page=chunk.page,
        page_end=chunk.page_end,
        heading_path=chunk.heading_path,
        quote=cited.quote,
        passage=chunk.text,
        url=links.url(target, platform),
        source_url=meta.source_url,
    )


def apology(turn: Turn, text: str) -> Reply:
    """The logs know the turn by its id, which is the reference."""
    return Reply(turn_id=turn.id, kind="apology", text=text, reference=turn.id)
