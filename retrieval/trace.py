"""Trace: what happened in a turn, step by step, with timings."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, Field


class ModelUse(BaseModel):
    """One model call as the trace keeps it. Tokens are those the provider counted."""

    role: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    #: US dollars; None where the price of the model is not known.
    cost: float | None = None


class Step(BaseModel):
    """One step. `start_ms` counts from the start of the turn; both times are milliseconds."""

    name: str
    start_ms: float
    ms: float = 0.0
    inputs: dict[str, Any] = Field(default_factory=dict[str, Any])
    outputs: dict[str, Any] = Field(default_factory=dict[str, Any])
    models: list[ModelUse] = Field(default_factory=list[ModelUse])
    #: Why a step fell back or was left out, in words for an operator.
    note: str | None = None
    error: str | None = None


class Trace(BaseModel):
    """All steps of one turn. Holds text of documents and people, so it is stored, never logged."""

    turn_id: str
    workspace: str
    steps: list[Step] = Field(default_factory=list[Step])
    started: float = Field(default_factory=time.perf_counter, exclude=True)

    @contextmanager
    def step(self, name: str, **inputs: Any) -> Generator[Step]:
        """Time a step. An exception is noted in it and raised on."""
        began = time.perf_counter()
        step = Step(name=name, start_ms=(began - self.started) * 1000, inputs=inputs)
        self.steps.append(step)
        try:
            yield step
        except BaseException as error:
            step.error = f"{type(error).__name__}: {error}"[:500]
            raise
        finally:
            step.ms = (time.perf_counter() - began) * 1000
