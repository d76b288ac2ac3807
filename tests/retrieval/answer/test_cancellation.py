"""Closing the stream of events ends all work at once, wherever it stands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import cast

import pytest

from retrieval.answer.draft import WriteTimes
from retrieval.answer.events import AnswerEvent, Status, TextDelta
from retrieval.answer.protocol import Rephrased
from retrieval.models.protocol import Vectors
from tests.doubles.index import MemoryIndex
from tests.doubles.models import HashEmbedder, ScriptedReranker, ScriptedTextModel
from tests.retrieval.answer.doubles import ScriptedAnswerer, ScriptedRephraser, ask, bench, outcome_of


class Gate:
    """Blocks whoever waits, for ever, and knows how many do."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.waiting = 0

    async def wait(self) -> None:
        self.waiting += 1
        self.reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.waiting -= 1


class BlockedEmbedder(HashEmbedder):
    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self._gate = gate

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        await self._gate.wait()
        return await super().embed_queries(texts)


PLACES: dict[str, Callable[[Gate], dict[str, object]]] = {
    "rephrase": lambda gate: {"rephraser": ScriptedRephraser(Rephrased(standalone="x"), wait=gate.wait)},
    "embed": lambda gate: {"embedder": BlockedEmbedder(gate)},
    "search": lambda gate: {"index": MemoryIndex(wait=gate.wait)},
    "rerank": lambda gate: {"reranker": ScriptedReranker(wait=gate.wait)},
    "generate": lambda gate: {"model": ScriptedTextModel("x", wait=gate.wait)},
}


@pytest.mark.parametrize("how", ["close", "cancel"])
@pytest.mark.parametrize("place", sorted(PLACES))
async def test_a_turn_can_be_ended_wherever_it_waits(place: str, how: str) -> None:
    gate = Gate()
    before = asyncio.all_tasks()
    parts = {"model": ScriptedTextModel("x"), "rephraser": ScriptedRephraser(Rephrased(standalone="x"))}
    parts |= PLACES[place](gate)  # pyright: ignore[reportArgumentType]
    made = await bench(parts.pop("model"), **parts)  # pyright: ignore[reportArgumentType]
    events = cast(
        "AsyncGenerator[AnswerEvent]", made.pipeline.answer(ask("keys?", alternatives=1, rerank=True))
    )

    async def consume() -> None:
        async for _ in events:
            pass

    consumer = asyncio.create_task(consume())
    await gate.reached.wait()
    assert gate.waiting >= 1
    consumer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await consumer
    if how == "close":
        await events.aclose()
    assert gate.waiting == 0
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("kind", ["rephrasing", "searching", "reading", "writing"])
async def test_closing_between_two_events_leaves_nothing_running(kind: str) -> None:
    gate = Gate()
    before = asyncio.all_tasks()
    rephraser = ScriptedRephraser(
        Rephrased(standalone="x y z"), wait=gate.wait if kind == "rephrasing" else None
    )
    made = await bench(ScriptedTextModel("90 days [1]."), rephraser=rephraser)
    events = cast("AsyncGenerator[AnswerEvent]", made.pipeline.answer(ask("keys?", alternatives=1)))
    async for event in events:
        if isinstance(event, Status) and event.kind == kind:
            break
    await events.aclose()
    assert gate.waiting == 0
    assert asyncio.all_tasks() == before


async def test_an_answerer_is_closed_when_the_reader_leaves_midway() -> None:
    answerer = ScriptedAnswerer("One. ", "Two. ", "Three.")
    made = await bench(answerer)
    events = cast("AsyncGenerator[AnswerEvent]", made.pipeline.answer(ask("keys?")))
    async for event in events:
        if isinstance(event, TextDelta):
            break
    assert answerer.closed == 0
    await events.aclose()
    assert answerer.closed == 1


async def test_a_model_that_stops_midway_is_not_waited_for_for_ever() -> None:
    class Stuck(ScriptedAnswerer):
        async def answer(self, request):  # pyright: ignore
            yield "Half an ans"
            await asyncio.Event().wait()

    made = await bench(Stuck(), times=WriteTimes(first=60, between=0))
    assert (await outcome_of(made.pipeline.answer(ask("keys?")))).failed.kind == "model_timeout"
