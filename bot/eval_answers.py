"""`kb eval --answers`: asks the configured pipeline the questions of a set, and judges what it says."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from bot import __version__
from bot.config import Config
from bot.engine import Engine, model_settings
from bot.eval_run import Sets, cache_of
from bot.eval_tables import new_table, share
from retrieval.answer.events import AnswerEvent
from retrieval.answer.question import AnswerOptions, Question
from retrieval.evaluation.answer_report import SHARES, AnswerReport, AnswerSet
from retrieval.evaluation.answers import AnswerFigures, measure, plan
from retrieval.evaluation.dataset import Dataset, Query
from retrieval.evaluation.errors import BadSettings
from retrieval.evaluation.filling import SCOPE, fill
from retrieval.evaluation.judge.model import ModelJudge
from retrieval.evaluation.judge.protocol import Judge
from retrieval.evaluation.judge.rules import RuleJudge
from retrieval.index.generations import EdgeGenerations
from retrieval.models.embedding import fingerprint_of
from retrieval.models.roles import Roles, build_roles


@dataclass(frozen=True)
class Choices:
    #: Questions a set.
    limit: int = 200
    #: Share of the documents that is left out of the index.
    hide: float = 0.25
    #: "rule" or "model".
    judge: str = "rule"


async def evaluate(config: Config, sets: Sets, choices: Choices, console: Console) -> AnswerReport:
    """Raises `BadEvaluation` and what the models raise."""
    async with AsyncExitStack() as stack:
        roles = build_roles(model_settings(config))
        stack.push_async_callback(roles.aclose)
        judge = judge_of(roles, choices.judge)
        results = [
            await _set(config, sets, folder, choices, roles, judge, console) for folder in sets.folders
        ]
    return AnswerReport(
        footnote=__version__,
        answerer=roles.answer.name if roles.answer else "extractive",
        judge=judge.name,
        hide=choices.hide,
        sets=results,
    )


def judge_of(roles: Roles, kind: str) -> Judge:
    """Raises `BadSettings` for a model where none is configured."""
    if kind == "rule":
        return RuleJudge()
    if kind != "model":
        raise BadSettings(f"A judge is rule or model, not “{kind}”.")
    if roles.answer is None:
        raise BadSettings("A model is to judge, but none is configured. Set ANSWER_MODEL.")
    return ModelJudge(roles.answer)


async def _set(
    config: Config, sets: Sets, folder: Path, choices: Choices, roles: Roles, judge: Judge, console: Console
) -> AnswerSet:
    data = await sets.read(folder)
    asked = plan(data, limit=choices.limit, hide=choices.hide)
    options = AnswerOptions(rephrase=config.feature_flag_rephrase, rerank=roles.reranker is not None)
    with console.status(data.name) as status:

        def told(what: str, done: int, total: int) -> None:
            status.update(f"{data.name}: {what} {done:,} of {total:,}")

        async with _engine(roles) as engine:
            await fill(
                data,
                index=engine.index,
                embedder=roles.embedder,
                cache=cache_of(config, sets),
                told=told,
                left_out=asked.left_out,
            )

            def ask(query: Query) -> AsyncIterator[AnswerEvent]:
                return engine.pipeline.answer(
                    Question(query.id, SCOPE, query.text, query.history, options=options)
                )

            figures: list[AnswerFigures] = []
            for number, query in enumerate(asked.queries):
                told("answering", number, len(asked.queries))
                answerable = query.id not in asked.unanswerable
                relevant = data.qrels.get(query.id, {}) if answerable else {}
                figures.append(
                    await measure(query, ask, judge=judge, relevant=relevant, answerable=answerable)
                )
    return AnswerSet(name=data.name, documents=_kept(data, asked.left_out), questions=figures)


def _kept(data: Dataset, left_out: frozenset[str]) -> int:
    return sum(document.id not in left_out for document in data.corpus)


@asynccontextmanager
async def _engine(roles: Roles) -> AsyncGenerator[Engine]:
    """What answers in a turn, on an index that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="footnote-eval-") as place:
        generations = EdgeGenerations(Path(place))
        fingerprint = await fingerprint_of(roles.embedder)
        engine = Engine(roles, generations, fingerprint, await generations.open(fingerprint), stale=False)
        try:
            yield engine
        finally:
            await engine.index.close()


def show(console: Console, report: AnswerReport) -> None:
    """A column a set, a line a figure, each with its 95 % interval."""
    table = new_table("", *(result.name for result in report.sets))
    lines = [
        ("questions", [f"{len(result.questions):,}" for result in report.sets]),
        ("answered, of those with an answer", [share(s.answered(answerable=True)) for s in report.sets]),
        ("answered, of those without one", [share(s.answered(answerable=False)) for s in report.sets]),
    ]
    lines += [(name.replace("_", " "), [share(s.share(name)) for s in report.sets]) for name in SHARES]
    lines.append(("ms p50 / p95", [" / ".join(f"{ms:.0f}" for ms in s.ms()) for s in report.sets]))
    for name, cells in lines:
        if any(cell != "–" for cell in cells):
            table.add_row(name, *cells)
    console.print(table)
    failed = sum(q.failed for result in report.sets for q in result.questions)
    if failed:
        console.print(f"{failed} questions failed.", style="red")
    console.print(
        f"Answered by {escape(report.answerer)}, judged by {escape(report.judge)} (`kb eval judge` "
        "tells how well that agrees with people). "
        f"{report.hide:.0%} of the documents were left out.",
        style="dim",
    )
