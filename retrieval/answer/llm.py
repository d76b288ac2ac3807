"""Answers by a language model."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from retrieval.answer.prompts import answer_prompt
from retrieval.answer.protocol import AnswerRequest, NotCovered
from retrieval.answer.streams import closing
from retrieval.models.prices import cost
from retrieval.models.protocol import TextModel, Usage
from retrieval.trace import ModelUse

_BEFORE, _AFTER = r"\s*[*`\"'\[(_]*", r"[*`\"'\])_.:]*"
#: The marker as models write it: bold, in quotes or brackets, escaped.
_MARKER = re.compile(rf"{_BEFORE}NOT\\?_COVERED{_AFTER}")
#: With a space it is the marker only if it is the whole answer: "dental care is NOT COVERED [1]".
_WHOLE = re.compile(rf"{_BEFORE}NOT COVERED{_AFTER}\s*\Z")
#: An end of text that may still become either.
_PART = "|".join(["N", "NO", "NOT", r"NOT\\", *(r"NOT(?:\\?_| )" + "COVERED"[:n] for n in range(8))])
_MAYBE = re.compile(rf"{_BEFORE}(?:(?:{_PART}){_AFTER})?\s*\Z")


class LlmAnswerer:
    """Builds the prompt, streams the model's text, and turns its marker into `NotCovered`."""

    def __init__(self, model: TextModel, *, max_tokens: int = 2048) -> None:
        self._model = model
        self._max_tokens = max_tokens

    async def answer(self, request: AnswerRequest) -> AsyncIterator[str]:
        marker = MarkerFilter()
        stream = self._model.stream(answer_prompt(request), max_tokens=self._max_tokens)
        async with closing(stream) as parts:
            async for part in parts:
                if isinstance(part, Usage):
                    self._note(request, part)
                elif text := marker.feed(part):
                    yield text
        if text := marker.finish():
            yield text
        if marker.seen:
            raise NotCovered

    def _note(self, request: AnswerRequest, usage: Usage) -> None:
        request.step.models.append(
            ModelUse(
                role="answering",
                model=self._model.name,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cost=cost(self._model.name, usage),
            )
        )


class MarkerFilter:
    """Takes `NOT_COVERED` out of a stream, wherever it stands and however it is cut.

    Raises `NotCovered` where it is the first thing said; `seen` tells of a later one.
    """

    def __init__(self) -> None:
        self.seen = False
        self._held = ""
        self._begun = False

    def feed(self, delta: str) -> str:
        """The text that is ready; holds back what may become the marker."""
        text = self._held + delta
        if not self._begun and _MARKER.match(text):
            raise NotCovered
        maybe = _MAYBE.search(text)
        end = maybe.start() if maybe else len(text)
        # What follows a marker closes it, and opens no other.
        end = max([end, *(m.end() for m in _MARKER.finditer(text) if m.start() < end < m.end())])
        self._held = text[end:]
        return self._without_marker(text[:end])

    def finish(self) -> str:
        """The rest."""
        if not self._begun and _WHOLE.match(self._held):
            raise NotCovered
        return self._without_marker(self._held)

    def _without_marker(self, text: str) -> str:
        self._begun = self._begun or bool(text.strip())
        text, removed = _MARKER.subn("", text)
        self.seen = self.seen or removed > 0
        return text
