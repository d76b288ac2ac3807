"""From the sources that an answer names to citations with their quotes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence

from retrieval.answer.events import CitedSource, Source
from retrieval.answer.marked_text import Named
from retrieval.answer.protocol import LabelStyle, QuoteFinder
from retrieval.trace import Trace

_NUMBER = re.compile(r"\d+(?:[.,'’]\d+)*")
_SEPARATORS = re.compile(r"[.,'’]")


async def cite(
    named: Sequence[Named],
    sources: Sequence[Source],
    quotes: QuoteFinder,
    *,
    style: LabelStyle,
    trace: Trace,
) -> tuple[CitedSource, ...]:
    """A citation for each source named, in order. Each claim is checked against its passages."""
    passages = {source.label: source for source in sources}
    with trace.step("cite", labels=[one.label for one in named]) as step:
        found = await asyncio.to_thread(
            lambda: [_quote(quotes, one.claims, passages[one.label].chunk.text) for one in named]
        )
        step.outputs["citations"] = [
            {"label": one.label, "chunk": passages[one.label].chunk.chunk_id, "claims": list(one.claims)}
            for one in named
        ]
        step.outputs["figures not in their source"] = unsupported_figures(
            named, {label: source.chunk.text for label, source in passages.items()}
        )
    return tuple(
        CitedSource(
            number=one.number,
            label=str(one.number) if style == "numbers" else one.label,
            chunk=passages[one.label].chunk,
            quote=quote,
        )
        for one, quote in zip(named, found, strict=True)
    )


def unsupported_figures(named: Sequence[Named], passages: Mapping[str, str]) -> list[str]:
    """Numbers in cited sentences that stand in none of the passages that the sentence cites."""
    cited: dict[str, list[str]] = {}
    for one in named:
        for claim in one.claims:
            cited.setdefault(claim, []).append(one.label)
    missing: list[str] = []
    for claim, labels in cited.items():
        known = {figure for label in labels for figure in _figures(passages[label])}
        missing += [figure for figure in _figures(claim) if figure not in known]
    return list(dict.fromkeys(missing))


def _figures(text: str) -> list[str]:
    """Numbers without their separators: 1,000 and 1.000 are the same."""
    return [_SEPARATORS.sub("", number) for number in _NUMBER.findall(text)]


def _quote(quotes: QuoteFinder, claims: Sequence[str], passage: str) -> str:
    """Always a part of the passage, whatever the finder returns."""
    quote = quotes.find(claims[0] if claims else "", passage)
    return quote if quote and quote in passage else passage
