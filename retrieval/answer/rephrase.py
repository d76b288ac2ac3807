"""Rephrasing by a language model: one call, one validated object."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from retrieval.answer.prompts import rephrase_prompt
from retrieval.answer.protocol import HistoryTurn, Rephrased
from retrieval.answer.queries import clean_rephrased
from retrieval.models.prices import cost
from retrieval.models.protocol import TextModel
from retrieval.trace import ModelUse, Step


class RephrasedObject(BaseModel):
    """What the model returns. Its description is part of the prompt of most providers."""

    standalone: str = Field(description="The question, understandable without the conversation.")
    alternatives: list[str] = Field(
        default_factory=list[str], description="Other phrasings, one plain line each."
    )


class LlmRephraser:
    """Makes a follow-up stand alone, and finds other ways to ask it."""

    def __init__(self, model: TextModel, *, max_tokens: int = 512) -> None:
        self._model = model
        self._max_tokens = max_tokens

    async def rephrase(
        self, question: str, history: Sequence[HistoryTurn], *, alternatives: int, step: Step
    ) -> Rephrased:
        """Raises `ModelError`; with kind "invalid_output" when the model gave no such object."""
        prompt = rephrase_prompt(question, history, alternatives)
        made, usage = await self._model.structured(prompt, RephrasedObject, max_tokens=self._max_tokens)
        step.models.append(
            ModelUse(
                role="rephrase",
                model=self._model.name,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cost=cost(self._model.name, usage),
            )
        )
        raw = Rephrased(standalone=made.standalone or question, alternatives=tuple(made.alternatives))
        return clean_rephrased(raw, question, limit=alternatives, history=bool(history))
