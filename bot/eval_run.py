"""Runs evaluation sets with the configured models, each on an index of its own that is thrown away."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from bot import __version__
from bot.config import Config
from bot.engine import model_settings
from retrieval.answer.extractive.rephrase import CarryOverRephraser
from retrieval.answer.rephrase import LlmRephraser
from retrieval.evaluation.dataset import Dataset, load
from retrieval.evaluation.errors import BadSettings
from retrieval.evaluation.report import Report, SetResult
from retrieval.evaluation.runner import Models, run
from retrieval.evaluation.settings import Settings, rerankers_of
from retrieval.index.edge import EdgeIndex
from retrieval.models.embedding import fingerprint_of
from retrieval.models.protocol import Reranker
from retrieval.models.roles import Roles, build_roles


@dataclass(frozen=True)
class Sets:
    """What is measured. `passages`: another set whose documents the questions are asked of."""

    folders: Sequence[Path]
    passages: Path | None = None
    #: Folder for vectors; None: in the data folder.
    cache: Path | None = None
    cells: Sequence[Settings] = field(default_factory=tuple[Settings, ...])

    async def read(self, folder: Path) -> Dataset:
        """Raises `BadDataset`."""
        return await asyncio.to_thread(load, folder, corpus=self.passages)


async def evaluate(config: Config, sets: Sets, console: Console) -> Report:
    """Every set in every configuration. Raises `BadEvaluation` and what the models raise."""
    async with AsyncExitStack() as stack:
        roles = build_roles(model_settings(config))
        stack.push_async_callback(roles.aclose)
        models = Models(
            roles.embedder,
            LlmRephraser(roles.rephrase) if roles.rephrase else CarryOverRephraser(),
            await _rerankers(config, sets.cells, roles, stack),
        )
        fingerprint = await fingerprint_of(roles.embedder)
        results: list[SetResult] = []
        for folder in sets.folders:
            data = await sets.read(folder)
            async with _index(models) as index:
                with console.status(data.name) as status:

                    def told(what: str, done: int, total: int, name: str = data.name) -> None:
                        status.update(f"{name}: {what} {done:,} of {total:,}")

                    results.append(
                        await run(
                            data,
                            sets.cells,
                            index=index,
                            models=models,
                            cache=cache_of(config, sets),
                            told=told,
                        )
                    )
    return Report(footnote=__version__, embedder=fingerprint, sets=results)


def cache_of(config: Config, sets: Sets) -> Path:
    return sets.cache or config.data_dir / "evaluation"


@asynccontextmanager
async def _index(models: Models) -> AsyncGenerator[EdgeIndex]:
    with tempfile.TemporaryDirectory(prefix="footnote-eval-") as place:
        index = EdgeIndex(Path(place))
        await index.open(models.embedder.fingerprint)
        try:
            yield index
        finally:
            await index.close()


async def _rerankers(
    config: Config, cells: Sequence[Settings], roles: Roles, stack: AsyncExitStack
) -> dict[str, Reranker]:
    """By the name that the cells give: "on" is the configured one, others are built for the run."""
    found: dict[str, Reranker] = {}
    for name in rerankers_of(cells):
        if name == "on":
            if roles.reranker is None:
                raise BadSettings("rerank=on needs a reranker, and none is configured. Set RERANK_MODEL.")
            found[name] = roles.reranker
            continue
        others = build_roles(replace(model_settings(config), rerank=name, reranking=True))
        stack.push_async_callback(others.aclose)
        if others.reranker is None:
            raise BadSettings(f"{name} is no reranker.")
        found[name] = others.reranker
    return found
