"""One attempt at an answer: an answerer's stream, read through the citation parser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal

from retrieval.answer.citations import CitationParser
from retrieval.answer.failures import reason
from retrieval.answer.marked_text import Named
from retrieval.answer.protocol import Answerer, AnswerRequest, CannotRework, LabelStyle, NotCovered
from retrieval.answer.streams import closing
from retrieval.models.protocol import ModelError

DraftEnd = Literal["complete", "not_covered", "cannot_rework", "failed"]


@dataclass(frozen=True, slots=True)
class WriteTimes:
    """Seconds until the first text of an answerer, and between two pieces of it."""

    first: float = 90.0
    between: float = 45.0


class Draft:
    """`deltas` runs it; afterwards `end`, `text` and `named` tell what came out."""

    def __init__(
        self, answerer: Answerer, request: AnswerRequest, *, style: LabelStyle, times: WriteTimes
    ) -> None:
        self._answerer = answerer
        self._request = request
        self._times = times
        passages = {source.label: source.chunk.text for source in request.sources}
        self._parser = CitationParser(list(passages), style, passages)
        self._shown: list[str] = []
        self._held = ""
        self.named: tuple[Named, ...] = ()
        self.end: DraftEnd = "failed"
        #: Why it failed; None for any other end.
        self.error: Exception | None = None

    @property
    def text(self) -> str:
        """What has been put out, without white space around it."""
        return "".join(self._shown)

    async def deltas(self) -> AsyncIterator[str]:
        """The text as it becomes ready. Never raises but for cancellation: see `end` and `error`."""
        step = self._request.step
        try:
            async with closing(self._answerer.answer(self._request)) as raw:
                while (delta := await self._next(raw)) is not None:
                    if text := self._ready(self._parser.feed(delta)):
                        yield text
            self.end = "complete"
        except NotCovered:
            self.end = "not_covered"
        except CannotRework:
            self.end = "cannot_rework"
        except TimeoutError:
            self.error = ModelError("timeout", "The answer stopped coming.")
        except Exception as error:
            self.error = error
        if self.error is None and (text := self._ready(self._parser.finish())):
            yield text
        if self.end == "complete" and not self.text:
            self.end, self.error = "failed", ModelError("invalid_output", "The answer was empty.")
        self.named = self._parser.named
        step.outputs |= {"end": self.end, "text": self.text, "named": [one.label for one in self.named]}
        step.error = reason(self.error) if self.error else None

    async def _next(self, raw: AsyncIterator[str]) -> str | None:
        async with asyncio.timeout(self._times.between if self._shown else self._times.first):
            return await anext(raw, None)

    def _ready(self, text: str) -> str:
        """Without white space at the beginning and, until more text comes, at the end."""
        text = self._held + text
        if not self._shown:
            text = text.lstrip()
        visible = text.rstrip()
        self._held = text[len(visible) :]
        if visible:
            self._shown.append(visible)
        return visible
