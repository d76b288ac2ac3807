"""Places of attached files among the passages that are handed on."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.passages import with_quota
from retrieval.documents import Chunk, DocumentMeta, is_attachment, thread_audience
from retrieval.index.protocol import Hit


def hit(number: int, *, attached: bool) -> Hit:
    meta = DocumentMeta(
        workspace="w", knowledge_base="kb", document_id=f"d{number}", version_id=f"v{number}", version=1,
        name="a.md", title="A", media_type="text/markdown", uploaded_at=datetime.now(UTC),
        audience=(thread_audience("slack:T:C:1"),) if attached else ("workspace",),
    )  # fmt: skip
    chunk = Chunk(chunk_id=f"c{number}", meta=meta, ordinal=0, text="text", language="en")
    return Hit(chunk=chunk, score=1 / (number + 1), lists={})


@given(st.lists(st.booleans(), max_size=20), st.integers(0, 8), st.integers(1, 10))
def test_attached_passages_have_their_places_and_the_order_stays(
    attached: list[bool], quota: int, limit: int
) -> None:
    hits = [hit(number, attached=flag) for number, flag in enumerate(attached)]
    placed = with_quota(hits, quota, limit=limit)
    assert sorted(h.chunk.chunk_id for h in placed) == sorted(h.chunk.chunk_id for h in hits)
    first = placed[:limit]
    assert sum(is_attachment(h.chunk.meta) for h in first) >= min(quota, limit, sum(attached))
    assert [h.score for h in first] == sorted((h.score for h in first), reverse=True)
    if not any(attached):
        assert placed == hits
