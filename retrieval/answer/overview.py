"""What attached files say as a whole becomes an assignment over their first passages, in order."""

from __future__ import annotations

from itertools import chain, zip_longest

from retrieval.answer.passages import fitting
from retrieval.answer.protocol import CannedReplies
from retrieval.answer.question import Question
from retrieval.answer.sources import label_sources
from retrieval.answer.write import Assignment
from retrieval.documents import Chunk, chunk_id
from retrieval.index.protocol import Hit, VectorIndex


async def overview_of(question: Question, canned: CannedReplies, index: VectorIndex) -> Assignment | None:
    """None where nothing of the files is there (any more). Raises `IndexUnavailable`."""
    options = question.options
    limit = options.passages_handed_on
    versions = question.attached[:limit]
    if question.attachments is None:
        return None
    wanted = [chunk_id(version, ordinal) for version in versions for ordinal in range(limit)]
    found = await index.get(question.attachments, wanted)
    # The files take turns, so that each has its beginning in; then they stand one after the other.
    of_files = [[chunk for chunk in found if chunk.meta.version_id == version] for version in versions]
    turns = [chunk for chunk in chain.from_iterable(zip_longest(*of_files)) if chunk is not None]
    kept = fitting([Hit(chunk, 1.0) for chunk in turns], limit=limit, tokens=options.source_tokens)
    ordered = sorted(kept, key=lambda hit: _place(hit.chunk, versions))
    if not ordered:
        return None
    text = question.text
    if not any(char.isalpha() for char in text):
        text = canned.reply("overview", text=text, language=question.reply_language)
    return Assignment(
        question=text,
        standalone=text,
        sources=tuple(label_sources(ordered, options.style.labels)),
        style=options.style,
        labels=options.style.labels,
        history=tuple(question.history),
        language=question.reply_language,
        overview=True,
    )


def _place(chunk: Chunk, versions: tuple[str, ...]) -> tuple[int, int]:
    return versions.index(chunk.meta.version_id), chunk.ordinal
