"""What the answer pipeline adds to its models: `python -m bench.pipeline`.

Models are stubs of fixed latency, the index is in memory. The critical path is what has to come one
after the other: the rewrite, then the first text. Everything else (the question's own search, the
search of all phrasings, labelling, the prompt, the citation parser) is overhead.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from rich.console import Console
from rich.table import Table

from retrieval.answer.events import Done, TextDelta
from retrieval.answer.llm import LlmAnswerer
from retrieval.answer.pipeline import AnswerPipeline
from retrieval.answer.protocol import HistoryTurn
from retrieval.answer.question import AnswerOptions, Question
from retrieval.answer.rephrase import LlmRephraser, RephrasedObject
from retrieval.answer.reranking import RerankStep
from retrieval.answer.retrieve import Retriever
from retrieval.answer.rewriting import Rewriter
from retrieval.answer.search import Searcher
from retrieval.answer.write import Writer
from retrieval.scope import Scope
from tests.doubles.index import MemoryIndex
from tests.doubles.models import HashEmbedder, ScriptedReranker, ScriptedTextModel
from tests.retrieval.answer.doubles import FirstSentence, KeyReplies, ListedIntents
from tests.retrieval.answer.handbook import SCOPE, WORKSPACE, chunk, notes

REPHRASE, FIRST_TOKEN, RERANK = 0.600, 0.500, 0.150
#: Time to first text over the critical path may be at most this.
TARGET = 1.05

QUESTION = "How often do I have to change my API key?"
ANSWER = (
    "Every 90 days [1]. The old key works for 24 more hours [1][2].\n\n- Settings > Security > Keys [1]\n"
    * 8
)


@dataclass(frozen=True)
class Case:
    name: str
    #: Seconds that can't be avoided.
    critical: float
    alternatives: int = 1
    history: tuple[HistoryTurn, ...] = ()
    rephrase: bool = True
    rerank: bool = False


HISTORY = (HistoryTurn("person", "How long do keys last?"), HistoryTurn("assistant", "90 days [1]."))
CASES = (
    Case("alternatives 1", REPHRASE + FIRST_TOKEN),
    Case("alternatives 4", REPHRASE + FIRST_TOKEN, alternatives=4),
    Case("follow-up", REPHRASE + FIRST_TOKEN, history=HISTORY),
    Case("rerank", REPHRASE + RERANK + FIRST_TOKEN, rerank=True),
    Case("nothing to rephrase", FIRST_TOKEN, alternatives=0),
    Case("rephrase off", FIRST_TOKEN, rephrase=False),
)


def latency(seconds: float) -> Callable[[], Awaitable[None]]:
    return partial(asyncio.sleep, seconds)


async def pipeline_of(chunks: int) -> AnswerPipeline:
    index, embedder = MemoryIndex(), HashEmbedder()
    filling = [
        chunk(f"note{n}.md", f"Note {n} about matter {n * 7} of the company.") for n in range(chunks)
    ]
    await index.add([*notes(), *filling], embedder)
    rewrite = RephrasedObject(
        standalone=QUESTION, alternatives=["key rotation", "expiry of keys", "API keys", "security of keys"]
    )
    rephraser = LlmRephraser(ScriptedTextModel(rewrite, wait=latency(REPHRASE)))
    retriever = Retriever(
        Searcher(index, embedder),
        # Without its cache, which would take the rewrite off the critical path.
        rewriter=Rewriter(rephraser, cache_size=0),
        reranker=RerankStep(ScriptedReranker(wait=latency(RERANK))),
    )
    answerer = LlmAnswerer(ScriptedTextModel(ANSWER, delta=12, wait=latency(FIRST_TOKEN)))
    writer = Writer(answerer, FirstSentence(), KeyReplies())
    return AnswerPipeline(
        index=index, retriever=retriever, writer=writer, intents=ListedIntents(), canned=KeyReplies()
    )


async def one(pipeline: AnswerPipeline, case: Case) -> tuple[float, float]:
    """Seconds to the first text and to the end."""
    question = Question(
        turn_id="bench",
        scope=Scope(workspace=WORKSPACE, audience=SCOPE.audience),
        text=QUESTION,
        history=case.history,
        options=AnswerOptions(rephrase=case.rephrase, alternatives=case.alternatives, rerank=case.rerank),
    )
    began, first = time.perf_counter(), 0.0
    async for event in pipeline.answer(question):
        if isinstance(event, TextDelta) and not first:
            first = time.perf_counter() - began
        if isinstance(event, Done):
            assert event.citations
    return first, time.perf_counter() - began


async def main(turns: int, chunks: int) -> bool:
    pipeline = await pipeline_of(chunks)
    await one(pipeline, CASES[0])
    table = Table(title=f"Pipeline over model stubs ({turns} turns each)")
    for heading in (
        "turn",
        "critical path",
        "first text p50",
        "p95",
        "overhead p50",
        "ratio p50",
        "end p50",
    ):
        table.add_column(heading, justify="left" if heading == "turn" else "right")
    good = True
    for case in CASES:
        times = [await one(pipeline, case) for _ in range(turns)]
        firsts = sorted(first for first, _ in times)
        p50, p95 = statistics.median(firsts), firsts[int(0.95 * (len(firsts) - 1))]
        ratio = p50 / case.critical
        good = good and ratio <= TARGET
        table.add_row(
            case.name,
            f"{case.critical * 1000:.0f} ms",
            f"{p50 * 1000:.1f} ms",
            f"{p95 * 1000:.1f} ms",
            f"{(p50 - case.critical) * 1000:.1f} ms",
            f"{ratio:.3f}",
            f"{statistics.median(end for _, end in times) * 1000:.1f} ms",
        )
    console = Console(width=120)
    console.print(table)
    console.print(f"Ratio at most {TARGET}: {'yes' if good else 'NO'}")
    return good


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--chunks", type=int, default=20)
    arguments = parser.parse_args()
    raise SystemExit(0 if asyncio.run(main(arguments.turns, arguments.chunks)) else 1)
