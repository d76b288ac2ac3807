"""Sources and requests for the extractive answerer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from retrieval.answer.events import Source
from retrieval.answer.protocol import Answerer, AnswerRequest, AnswerStyle, HistoryTurn, Length, Rework
from retrieval.documents import Chunk, DocumentMeta
from retrieval.trace import Step


def source(
    text: str,
    label: str = "1",
    *,
    title: str = "Handbook",
    headings: Sequence[str] = (),
    language: str = "en",
) -> Source:
    meta = DocumentMeta(
        workspace="w",
        knowledge_base="k",
        document_id=label,
        version_id=label,
        version=1,
        name=f"{label}.md",
        title=title,
        media_type="text/markdown",
        uploaded_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    chunk = Chunk(
        chunk_id=label, meta=meta, ordinal=0, text=text, heading_path=tuple(headings), language=language
    )
    return Source(label, chunk, 1.0)


def request(
    question: str,
    *sources: Source,
    standalone: str | None = None,
    history: Sequence[HistoryTurn] = (),
    language: str | None = None,
    length: Length = "concise",
    rework: Rework | None = None,
) -> AnswerRequest:
    return AnswerRequest(
        question=question,
        standalone=standalone or question,
        history=history,
        sources=sources,
        language=language,
        style=AnswerStyle(length=length),
        rework=rework,
        step=Step(name="generate", start_ms=0),
    )


async def said(answerer: Answerer, asked: AnswerRequest) -> str:
    return "".join([delta async for delta in answerer.answer(asked)])


def labels_in(text: str) -> list[str]:
    return re.findall(r"\[([^\]\s]+)\]", text)
