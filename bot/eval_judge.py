"""`kb eval judge`: how well the judges of answers agree with people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape

from bot.config import Config
from bot.engine import model_settings
from bot.eval_answers import judge_of
from bot.eval_tables import new_table, share
from retrieval.evaluation.judge.agreement import Agreement, agreement, labelled_pairs
from retrieval.evaluation.judge.rules import RuleJudge
from retrieval.models.roles import build_roles


@dataclass(frozen=True)
class Measured:
    #: "dev": constants were chosen on it. "test": they were not.
    split: str
    found: Agreement

    def as_json(self) -> dict[str, Any]:
        return {"split": self.split, **asdict(self.found)}


async def measure(config: Config, *, with_model: bool = False) -> list[Measured]:
    """The rules, and on demand the model that answers. Raises what the model raises."""
    parts = [(name, [p for p in labelled_pairs() if p.split == name]) for name in ("dev", "test")]
    measured = [Measured(name, await agreement(RuleJudge(), pairs)) for name, pairs in parts]
    if with_model:
        roles = build_roles(model_settings(config))
        try:
            judge = judge_of(roles, "model")
            measured += [Measured(name, await agreement(judge, pairs)) for name, pairs in parts]
        finally:
            await roles.aclose()
    return measured


def show(console: Console, measured: list[Measured]) -> None:
    """A line a judge and part; then which kinds of pairs they judge rightly."""
    table = new_table("judge", "pairs", "", "kappa", "precision", "recall", "accuracy")
    for one in measured:
        found = one.found
        table.add_row(
            escape(found.judge),
            one.split,
            str(found.pairs),
            share(found.kappa),
            *(f"{value:.3f}" for value in (found.precision, found.recall, found.accuracy)),
        )
    console.print(table)
    kinds = new_table("judged rightly", *(f"{one.found.judge} {one.split}" for one in measured))
    for case in sorted({case for one in measured for case in one.found.cases}):
        counts = [one.found.cases.get(case) for one in measured]
        kinds.add_row(case, *(f"{count[1]} of {count[0]}" if count else "–" for count in counts))
    console.print(kinds)
    console.print("Constants were chosen on “dev”; “test” is what to go by.", style="dim")
