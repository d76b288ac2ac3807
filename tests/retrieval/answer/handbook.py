"""Five notes of a small handbook, as chunks and in an index."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from retrieval.answer.events import Source
from retrieval.answer.protocol import AnswerRequest, AnswerStyle, HistoryTurn, Rework
from retrieval.answer.sources import label_sources
from retrieval.documents import EVERYONE, Chunk, ChunkKind, DocumentMeta, chunk_id
from retrieval.index.protocol import Hit
from retrieval.scope import Scope
from retrieval.trace import Step

WORKSPACE = "acme"
SCOPE = Scope(workspace=WORKSPACE, audience=frozenset({EVERYONE}))

NOTES = {
    "keys.md": "API keys expire after 90 days. Make a new key under Settings > Security > Keys. "
    "The old key works for 24 more hours.",
    "sts.md": "The Security Token Service (STS) hands out short-lived tokens that replace API keys in "
    "pipelines. A token lasts one hour.",
    "travel.md": "Book trains with the travel desk. Flights need the approval of your team lead.",
    "leave.md": "Everyone has 30 days of paid leave a year. Ask your team lead two weeks ahead.",
    "onboarding.md": "On your first day you get a laptop, a badge and an account. "
    "Ask the help desk for a screen.",
}


def chunk(
    name: str,
    text: str,
    *,
    ordinal: int = 0,
    kind: ChunkKind = "passage",
    title: str = "",
    workspace: str = WORKSPACE,
    audience: tuple[str, ...] = (EVERYONE,),
    heading_path: tuple[str, ...] = (),
    page: int | None = None,
) -> Chunk:
    version = f"{workspace}/{name}/1"
    meta = DocumentMeta(
        workspace=workspace,
        knowledge_base="handbook",
        document_id=f"{workspace}/{name}",
        version_id=version,
        version=1,
        name=name,
        title=title or name,
        media_type="text/markdown",
        audience=audience,
        uploaded_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    ordinal = -1 if kind == "summary" else ordinal
    return Chunk(
        chunk_id=chunk_id(version, ordinal),
        meta=meta,
        kind=kind,
        ordinal=ordinal,
        text=text,
        heading_path=heading_path,
        page=page,
    )


def notes() -> list[Chunk]:
    return [chunk(name, text) for name, text in NOTES.items()]


def sources(style: AnswerStyle | None = None, chunks: Sequence[Chunk] | None = None) -> tuple[Source, ...]:
    hits = [Hit(c, 1.0) for c in (notes() if chunks is None else chunks)]
    return label_sources(hits, (style or AnswerStyle()).labels)


def request_for(
    question: str,
    *,
    standalone: str = "",
    history: Sequence[HistoryTurn] = (),
    style: AnswerStyle | None = None,
    language: str | None = None,
    rework: Rework | None = None,
    chunks: Sequence[Chunk] | None = None,
) -> AnswerRequest:
    return AnswerRequest(
        question=question,
        standalone=standalone or question,
        history=history,
        sources=sources(style, chunks),
        language=language,
        style=style or AnswerStyle(),
        rework=rework,
        step=Step(name="generate", start_ms=0),
    )
