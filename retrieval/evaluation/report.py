"""Results as they are kept, with the figures of each question: so two files can be compared fairly."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from retrieval.evaluation.errors import BadReport
from retrieval.evaluation.settings import Settings
from retrieval.index.protocol import Fingerprint

#: Counts up whenever a field changes its meaning or goes.
SCHEMA: Literal["footnote-eval/1"] = "footnote-eval/1"
#: The figures that every cell has, the first is the one that tables and plots lead with.
METRICS = ("ndcg@10", "recall@5", "recall@10", "mrr@10")


class _Kept(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Cost(_Kept):
    """What one question takes, on average over `timed` questions that nothing was cached for."""

    calls: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    #: US dollars; None where the price of a model is not known.
    dollars: float | None = 0.0
    ms_p50: float = 0.0
    ms_p95: float = 0.0
    timed: int = 0


class Cell(_Kept):
    """One configuration on one set."""

    settings: Settings
    #: query id -> figure -> value, 0..1
    queries: dict[str, dict[str, float]]
    cost: Cost
    #: Questions for which a step of the search fell back, such as a reranker that failed.
    fell_back: int = 0

    @property
    def label(self) -> str:
        return self.settings.label

    def values(self, metric: str) -> dict[str, float]:
        """By query. Raises `BadReport` for a figure that is not there."""
        try:
            return {query: figures[metric] for query, figures in self.queries.items()}
        except KeyError:
            raise BadReport(f"There is no figure “{metric}” for {self.label}.") from None

    def mean(self, metric: str) -> float:
        return fmean(self.values(metric).values())


class SetResult(_Kept):
    name: str
    documents: int
    cells: list[Cell]

    def cell(self, label: str) -> Cell | None:
        return next((cell for cell in self.cells if cell.label == label), None)


class Report(_Kept):
    """Everything that `kb eval` measured in one run."""

    version: Literal["footnote-eval/1"] = Field(default=SCHEMA, alias="schema")
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))
    footnote: str
    embedder: Fingerprint
    sets: list[SetResult]

    @property
    def labels(self) -> list[str]:
        """Of all cells, in order, each once."""
        return list(dict.fromkeys(cell.label for result in self.sets for cell in result.cells))

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")


def read_report(path: Path) -> Report:
    """Raises `BadReport`."""
    try:
        return Report.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadReport(f"{path} is missing.") from None
    except (UnicodeDecodeError, ValidationError) as error:
        raise BadReport(f"{path} holds no results of `kb eval` (of the form {SCHEMA}).") from error
