"""Places of attached files among the passages that are handed on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.passages import with_quota
from retrieval.documents import Chunk, DocumentMeta, is_attachment, thread_audience
from retrieval.index.protocol import Hit
from retrieval.scope import Scope
from tests.doubles.models import ScriptedTextModel
from tests.retrieval.answer.doubles import Outcome, ask, bench, outcome_of
from tests.retrieval.answer.handbook import SCOPE, WORKSPACE, chunk

THREAD = thread_audience("slack:T:C:1")


def hit(number: int, *, attached: bool) -> Hit:
    meta = DocumentMeta(
        workspace="w", knowledge_base="kb", document_id=f"d{number}", version_id=f"v{number}", version=1,
        name="a.md", title="A", media_type="text/markdown", uploaded_at=datetime.now(UTC),
        audience=(THREAD,) if attached else ("workspace",),
    )  # fmt: skip
    chunk = Chunk(chunk_id=f"c{number}", meta=meta, ordinal=0, text="text", language="en")
    return Hit(chunk=chunk, score=1 / (number + 1), lists={})


@given(st.lists(st.booleans(), max_size=20), st.integers(0, 10), st.integers(0, 10), st.integers(1, 10))
def test_attached_passages_have_their_places_and_no_more(
    attached: list[bool], least: int, more: int, limit: int
) -> None:
    hits = [hit(number, attached=flag) for number, flag in enumerate(attached)]
    least = min(least, limit)
    most = min(least + more, limit)
    placed = with_quota(hits, limit=limit, least=least, most=most)
    assert sorted(h.chunk.chunk_id for h in placed) == sorted(h.chunk.chunk_id for h in hits)
    first = placed[:limit]
    count = sum(is_attachment(h.chunk.meta) for h in first)
    others = len(attached) - sum(attached)
    assert count >= min(least, sum(attached))
    # Above the bound only in places that nothing else takes.
    assert count <= max(most, limit - others)
    assert [h.score for h in first] == sorted((h.score for h in first), reverse=True)
    if all(attached) or not any(attached):
        assert placed == hits


def handbook(number: int, *, attached: bool) -> Chunk:
    """A passage about keys."""
    made = chunk(
        f"{attached}{number}", f"keys rule number {number} of {'file' if attached else 'handbook'}"
    )
    audience = (THREAD,) if attached else made.meta.audience
    return made.model_copy(update={"meta": made.meta.model_copy(update={"audience": audience})})


@pytest.mark.parametrize(
    ("text", "files", "notes", "options", "of_files"),
    [
        ("keys rule", 10, 10, {}, 3),  # half of the six
        ("keys rule", 1, 10, {}, 1),
        ("keys rule", 10, 2, {}, 4),  # what nothing else takes
        ("keys rule", 10, 10, {"attachment_share": 0.0, "attachment_passages": 0}, 0),
        ("keys rule", 10, 10, {"passages_handed_on": 1}, 1),
        ("what does this file say on the keys rule?", 10, 10, {}, 4),
        ("what does this file say on the keys rule?", 10, 0, {}, 6),
    ],
)
async def test_how_many_passages_are_of_attached_files(
    text: str, files: int, notes: int, options: dict[str, Any], of_files: int
) -> None:
    chunks = [handbook(n, attached=True) for n in range(files)]
    chunks += [handbook(n, attached=False) for n in range(notes)]
    made = await bench(ScriptedTextModel("So it is [1]."), chunks=chunks)
    question = ask(text, attachments=Scope(workspace=WORKSPACE, audience=frozenset({THREAD})), **options)
    outcome: Outcome = await outcome_of(made.pipeline.answer(question))
    assert sum(is_attachment(s.chunk.meta) for s in outcome.done.sources) == of_files
    assert outcome.step("select").outputs["of attached files"] == of_files


async def test_without_attachments_no_passage_of_a_thread_is_found() -> None:
    made = await bench(ScriptedTextModel("So it is [1]."), chunks=[handbook(0, attached=True)])
    outcome = await outcome_of(made.pipeline.answer(ask("keys rule", scope=SCOPE)))
    assert outcome.done.sources == ()
