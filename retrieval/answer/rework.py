"""A wish about the previous answer ("shorten that") becomes an assignment over that answer's sources."""

from __future__ import annotations

from dataclasses import replace

from retrieval.answer.events import CitedSource, Source
from retrieval.answer.protocol import LabelStyle, Rework
from retrieval.answer.question import PreviousAnswer, Question
from retrieval.answer.sources import numbers
from retrieval.answer.write import Assignment
from retrieval.index.protocol import VectorIndex


async def rework_of(question: Question, previous: PreviousAnswer, index: VectorIndex) -> Assignment | None:
    """None if a passage that the answer cites is gone: changed, deleted, or not to be read any more.

    Sources are labelled as the previous text has them; those that it didn't cite come after. Nothing
    is searched. Raises `IndexUnavailable`.
    """
    if previous.sources_changed:
        return None
    labels = _style(previous.citations) or question.options.style.labels
    sources = [
        *(Source(citation.label, citation.chunk, 1.0) for citation in previous.citations),
        *_uncited(previous, labels),
    ]
    wanted = [source.chunk.chunk_id for source in sources]
    texts = {c.chunk_id: c.text for scope in question.scopes for c in await index.get(scope, wanted)}
    sources = [source for source in sources if texts.get(source.chunk.chunk_id) == source.chunk.text]
    labels_left = {source.label for source in sources}
    if not sources or any(citation.label not in labels_left for citation in previous.citations):
        return None
    return Assignment(
        question=question.text,
        standalone=question.text,
        sources=tuple(sources),
        style=question.options.style,
        labels=labels,
        history=tuple(question.history),
        language=question.reply_language,
        rework=Rework(instruction=question.text, previous_text=previous.text),
        kept=previous.citations,
    )


def _style(citations: tuple[CitedSource, ...]) -> LabelStyle | None:
    if not citations:
        return None
    return "numbers" if all(citation.label == str(citation.number) for citation in citations) else "names"


def _uncited(previous: PreviousAnswer, labels: LabelStyle) -> list[Source]:
    cited = {citation.chunk.chunk_id for citation in previous.citations}
    rest = [source for source in previous.sources if source.chunk.chunk_id not in cited]
    if labels == "names":
        taken = {citation.label for citation in previous.citations}
        return [source for source in rest if source.label not in taken]
    free = numbers(len(cited) + len(rest))[len(cited) :]
    return [replace(source, label=label) for source, label in zip(rest, free, strict=True)]
