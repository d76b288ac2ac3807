"""Rephrasing as a step of a turn: cached, time-boxed, and never the reason that a turn fails."""

from __future__ import annotations

import asyncio

from retrieval.answer.cache import TtlCache
from retrieval.answer.failures import reason
from retrieval.answer.protocol import Rephrased, Rephraser
from retrieval.answer.queries import clean_rephrased
from retrieval.answer.question import Question
from retrieval.trace import Step, Trace

#: The workspace is part of the key, although the rest decides what comes out.
Key = tuple[str, str, tuple[tuple[str, str], ...], int]


class Rewriter:
    """`seconds`: how long the search of the question itself is made to wait for its rewrite."""

    def __init__(
        self,
        rephraser: Rephraser,
        *,
        seconds: float = 2.5,
        cache_size: int = 2048,
        cache_seconds: float = 3600,
    ) -> None:
        self._rephraser = rephraser
        self._seconds = seconds
        self._cache: TtlCache[Key, Rephrased] = TtlCache(cache_size, cache_seconds)

    @staticmethod
    def wanted(question: Question) -> bool:
        """Whether a rewrite could add anything."""
        options = question.options
        return options.rephrase and (options.alternatives > 0 or bool(question.history))

    async def rewrite(self, question: Question, trace: Trace) -> Rephrased | None:
        """None where there is no rewrite; the trace says why."""
        alternatives = question.options.alternatives
        thread = tuple((turn.role, turn.text) for turn in question.history)
        key = (question.scope.workspace, question.text, thread, alternatives)
        with trace.step(
            "rephrase", question=question.text, history=len(thread), alternatives=alternatives
        ) as step:
            rephrased = self._cache.get(key)
            if rephrased is not None:
                step.note = "From the cache."
            else:
                rephrased = await self._call(question, step)
                if rephrased is not None:
                    self._cache.put(key, rephrased)
            if rephrased is not None:
                step.outputs = rephrased.model_dump(mode="json")
        return rephrased

    async def _call(self, question: Question, step: Step) -> Rephrased | None:
        alternatives = question.options.alternatives
        try:
            async with asyncio.timeout(self._seconds):
                raw = await self._rephraser.rephrase(
                    question.text, question.history, alternatives=alternatives, step=step
                )
        except TimeoutError:
            step.note = f"No rewrite within {self._seconds:g} s: the question itself is searched."
        except Exception as error:
            step.note = f"No rewrite ({reason(error)}): the question itself is searched."
        else:
            return clean_rephrased(raw, question.text, limit=alternatives, history=bool(question.history))
        return None
