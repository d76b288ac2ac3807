"""`kb eval`: how well the configured search finds what an evaluation set says it should."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bot.config import Config
from bot.engine import model_settings
from retrieval.evaluation.dataset import load
from retrieval.evaluation.runner import MODES, Figures, run
from retrieval.index.edge import EdgeIndex
from retrieval.index.protocol import SearchMode
from retrieval.models.embedding import fingerprint_of
from retrieval.models.roles import build_roles

Results = dict[str, dict[SearchMode, Figures]]


async def evaluate(config: Config, folders: Sequence[Path], console: Console) -> Results:
    """Run each set with the configured embedding model, on an index of its own that is thrown away.

    Vectors are kept in the data folder's cache, so that a second run is quick. Raises `BadDataset`.
    """
    roles = build_roles(model_settings(config))
    results: Results = {}
    try:
        fingerprint = await fingerprint_of(roles.embedder)
        for folder in folders:
            data = await asyncio.to_thread(load, folder)
            with tempfile.TemporaryDirectory(prefix="footnote-eval-") as place:
                index = EdgeIndex(Path(place))
                await index.open(fingerprint)
                try:
                    with console.status(folder.name) as status:

                        def told(what: str, done: int, total: int, name: str = folder.name) -> None:
                            status.update(f"{name}: {what} {done:,} of {total:,}")

                        results[_name(folder)] = await run(
                            data,
                            index=index,
                            embedder=roles.embedder,
                            cache=config.data_dir / "evaluation",
                            told=told,
                        )
                finally:
                    await index.close()
    finally:
        await roles.aclose()
    return results


def _name(folder: Path) -> str:
    """Two levels: many sets have a folder a language."""
    return "/".join(folder.resolve().parts[-2:])


def show(console: Console, results: Results) -> None:
    """A line a set; in each cell nDCG@10, recall@10 and MRR@10."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("nDCG@10 / recall@10 / MRR@10")
    for mode in MODES:
        table.add_column(mode, justify="right")
    table.add_column("ms a query", justify="right")
    for name, figures in results.items():
        best = max(f.ndcg10 for f in figures.values())
        cells: list[str] = []
        for f in (figures[mode] for mode in MODES):
            style = "bold" if f.ndcg10 == best else "default"
            cells.append(f"[{style}]{f.ndcg10:.3f}[/] / {f.recall10:.3f} / {f.mrr10:.3f}")
        table.add_row(name, *cells, f"{figures['hybrid'].ms:.1f}")
    console.print(table)


def as_json(results: Results) -> dict[str, Any]:
    return {
        name: {
            mode: {
                "ndcg@10": f.ndcg10, "recall@10": f.recall10, "mrr@10": f.mrr10, "ms": f.ms,
                "ndcg@10 by query": f.by_query,
            }
            for mode, f in figures.items()
        }
        for name, figures in results.items()
    }  # fmt: skip
