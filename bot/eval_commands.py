"""`kb eval`: how good search and answers are, on evaluation sets and on a workspace's own questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from adapters.ports import Actor
from bot.config import Config
from bot.connect import Knowledge
from bot.console import AsJson, Workspace, dump, err, fail, must_exist, out, run, with_actor

Metric = Annotated[str, typer.Option(help="ndcg@10, mrr@10, recall@5 or recall@10.")]
Plot = Annotated[Path | None, typer.Option(help="Write a plot (SVG).", dir_okay=False)]
Cache = Annotated[
    Path | None, typer.Option(help="Folder for vectors. Default: in the data folder.", file_okay=False)
]
Passages = Annotated[
    Path | None,
    typer.Option(
        help="Ask the questions of this set's passages, e.g. in another language.", file_okay=False
    ),
]


class _RunByDefault(TyperGroup):
    """`kb eval SETS` is `kb eval run SETS`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["run", *args]
        return super().parse_args(ctx, args)


group = typer.Typer(cls=_RunByDefault, no_args_is_help=True, help=__doc__)


@group.command(name="run")
def run_sets(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(file_okay=False, help="Sets in BEIR's layout, or folders of them."),
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option(help='What to try: "mode=hybrid,semantic rerank=off,on top_k=5,10", or a TOML file.'),
    ] = None,
    passages: Passages = None,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(
            help="Compare two files of results (--out); a.json@hybrid names one of several configurations."
        ),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Measure the answers, too, not the search alone.")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=1, help="With --answers: questions a set, spread evenly.")
    ] = 200,
    hide: Annotated[
        float,
        typer.Option(
            min=0,
            max=0.9,
            help="With --answers: share of documents left out, so that some questions have no answer.",
        ),
    ] = 0.25,
    judge: Annotated[
        str, typer.Option(help="With --answers: rule, or model (the one that answers).")
    ] = "rule",
    save: Annotated[
        Path | None, typer.Option("--out", help="Keep the results (JSON).", dir_okay=False)
    ] = None,
    plot: Plot = None,
    metric: Metric = "ndcg@10",
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Measure the search on evaluation sets, or compare two files of results. This is the default."""
    if compare is not None:
        _compare(compare, metric, plot, as_json=as_json)
        return
    if not folders:
        fail("Name the folders of one or more evaluation sets, or two results with --compare.", 2)
    must_exist([*folders, *([passages] if passages else [])])

    async def work(config: Config) -> None:
        from bot import eval_run, eval_tables
        from retrieval.evaluation.dataset import find
        from retrieval.evaluation.settings import default_grid, read_grid

        cells = read_grid(grid) if grid else default_grid()
        sets = eval_run.Sets(find(folders), passages, cache, cells)
        if answers:
            from bot import eval_answers

            options = eval_answers.Choices(limit=limit, hide=hide, judge=judge)
            report = await eval_answers.evaluate(config, sets, options, err)
            if save:
                report.write(save)
            if as_json:
                dump(report.model_dump(mode="json", by_alias=True))
            else:
                eval_answers.show(out, report)
            return
        results = await eval_run.evaluate(config, sets, err)
        if save:
            results.write(save)
        if plot:
            _write_plots(results, metric, plot)
        if as_json:
            dump(results.model_dump(mode="json", by_alias=True))
        else:
            eval_tables.show_report(out, results, metric)

    run(work)


def _write_plots(results: Any, metric: str, place: Path) -> None:
    """Bars at `place`, and with several configurations quality against time beside it."""
    from retrieval.evaluation.plots.bars import bars
    from retrieval.evaluation.plots.trade import trade
    from retrieval.evaluation.summary import summarise

    place.write_text(bars(results, metric), encoding="utf-8")
    if len(summaries := summarise(results, metric)) > 1:
        other = place.with_stem(f"{place.stem}-cost")
        other.write_text(trade(summaries, metric), encoding="utf-8")


def _compare(places: tuple[str, str], metric: str, plot: Path | None, *, as_json: bool) -> None:
    from dataclasses import asdict

    from bot.eval_tables import show_comparison
    from retrieval.evaluation.compare import compare, pick
    from retrieval.evaluation.errors import BadEvaluation
    from retrieval.evaluation.plots.forest import forest
    from retrieval.evaluation.report import read_report

    try:
        (first, one), (second, two) = [_named(place) for place in places]
        reports = read_report(first), read_report(second)
        labels = pick(reports[0], one), pick(reports[1], two)
        found = compare(*reports, labels=labels, metric=metric)
    except BadEvaluation as error:
        fail(str(error))
    if plot:
        plot.write_text(forest(found), encoding="utf-8")
    if as_json:
        dump(asdict(found))
    else:
        show_comparison(out, found)


def _named(place: str) -> tuple[Path, str | None]:
    """A file, and the configuration in it: "a.json@hybrid"."""
    path, at, label = place.partition("@")
    return Path(path), label if at else None


@group.command(name="judge")
def judge_command(
    model: Annotated[
        bool, typer.Option("--model", help="Try the model that answers as a judge, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell how well the judges of `--answers` agree with people, on pairs of sentence and passage."""

    async def work(config: Config) -> None:
        from bot import eval_judge

        found = await eval_judge.measure(config, with_model=model)
        if as_json:
            dump([one.as_json() for one in found])
        else:
            eval_judge.show(out, found)

    run(work)


@group.command(name="make")
def make(
    folder: Annotated[
        Path, typer.Argument(file_okay=False, help="Where the set is written; new or empty.")
    ],
    workspace: Workspace = None,
) -> None:
    """Turn a workspace's thumbs and unanswered questions into an evaluation set."""
    from bot.eval_make import write_set

    async def work(knowledge: Knowledge, actor: Actor) -> None:
        items = [item async for item in knowledge.evaluations.export(actor)]
        for line in write_set(items, folder):
            out.print(escape(line))

    with_actor(work, workspace)


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="eval")
