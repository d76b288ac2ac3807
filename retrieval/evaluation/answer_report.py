"""What was measured of answers, as it is kept and summed up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, Field

from retrieval.evaluation.answers import AnswerFigures
from retrieval.evaluation.bootstrap import Interval, mean_interval

ANSWERS: Literal["footnote-answers/1"] = "footnote-answers/1"
#: Of questions that are answered and have an answer.
SHARES = (
    "citation_precision",
    "citation_recall",
    "faithfulness",
    "relevant_source",
    "contains_answer",
    "relevance",
)


class AnswerSet(BaseModel):
    name: str
    documents: int
    questions: list[AnswerFigures]

    def share(self, name: str) -> Interval | None:
        """The mean of one of `SHARES` over the questions that have it; None where none has."""
        values = [getattr(q, name) for q in self.questions if q.answered and q.answerable]
        known = [value for value in values if value is not None]
        return mean_interval(known) if known else None

    def answered(self, *, answerable: bool) -> Interval | None:
        """The share of questions with (or without) an answer that are answered."""
        asked = [float(q.answered) for q in self.questions if q.answerable == answerable and not q.failed]
        return mean_interval(asked) if asked else None

    def ms(self) -> tuple[float, float]:
        """p50 and p95 of a whole answer."""
        p50, p95 = np.quantile([q.ms for q in self.questions], [0.5, 0.95])
        return float(p50), float(p95)


class AnswerReport(BaseModel):
    version: Literal["footnote-answers/1"] = Field(default=ANSWERS, alias="schema")
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))
    footnote: str
    #: Who answered, and who judged: `provider:model`, or "extractive" and "rules".
    answerer: str
    judge: str
    hide: float
    sets: list[AnswerSet]

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
