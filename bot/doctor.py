"""`kb doctor`: what is set, what is missing, and whether each model and store answers."""

from __future__ import annotations

import shutil
import sys

from adapters.ports import Refused
from bot import __version__
from bot.admin import Check
from bot.config import Config
from bot.connect import choose_workspace, connect
from bot.engine import Engine
from bot.library import Library
from bot.problems import explain
from bot.state import State
from retrieval.models.check import check
from retrieval.models.roles import describe

#: Beyond this the embedded index grows slow; see the table of `bench/search.py`.
MAX_EMBEDDED_CHUNKS = 50_000
#: Bytes of free disk below which uploads will soon fail.
LOW_DISK = 2 * 1024**3


async def examine(config: Config, workspace: str | None) -> list[Check]:
    """All checks; when the bot can't be opened, why, in place of what needs it open."""
    from bot.slack_checks import examine_slack  # the Slack SDK takes 0.3 s to import
    from bot.teams_checks import examine_teams

    found = await _examine(config, workspace)
    return [*found, *await examine_slack(config), *await examine_teams(config)]


async def _examine(config: Config, workspace: str | None) -> list[Check]:
    try:
        async with connect(config) as knowledge:
            chosen = await choose_workspace(knowledge, workspace)
            return [*_place(config), *await knowledge.admin.doctor(chosen)]
    except Exception as error:
        sentence = str(error) if isinstance(error, Refused) else explain(error)
        if sentence is None:
            raise
        return [*_place(config), Check(topic="Start", name="Footnote", state="problem", detail=sentence)]


def _place(config: Config) -> list[Check]:
    version = f"{__version__} on Python {sys.version.split()[0]}, {sys.platform}"
    checks = [Check(topic="Here", name="Footnote", state="fine", detail=version)]
    folder = config.data_dir
    if folder.is_dir():
        free = shutil.disk_usage(folder).free
        checks.append(
            Check(
                topic="Here",
                name="Data folder",
                state="fine" if free > LOW_DISK else "problem",
                detail=f"{folder}, {free / 1024**3:.0f} GiB free",
                advice="" if free > LOW_DISK else "Free some disk, or set DATA_DIR to another one.",
            )
        )
    if config.public_url is None:
        checks.append(
            Check(
                topic="Here",
                name="PUBLIC_URL",
                state="note",
                detail="not set",
                advice="Citations in Slack and Teams open their passage once this server has an address.",
            )
        )
    return checks


async def examine_app(
    config: Config, engine: Engine, state: State, library: Library, workspace: str
) -> list[Check]:
    """The checks of an open bot."""
    checks = [*await _models(engine)]
    place = (config.redis_url and "REDIS_URL") or "private, in the data folder"
    checks.append(Check(topic="Stores", name="State", state="fine", detail=f"{state.server}, {place}"))
    checks += [Check(topic="Stores", name="State", state="note", detail=text) for text in state.warnings]
    checks.append(await _index(config, engine))
    await library.files.check()
    where = config.files_url or f"{config.data_dir / 'files'}"
    checks.append(Check(topic="Stores", name="Originals", state="fine", detail=where))
    checks.append(await _documents(library, workspace))
    return checks


async def _models(engine: Engine) -> list[Check]:
    roles = engine.roles
    models = {
        "answer": roles.answer, "rephrase": roles.rephrase, "summary": roles.summary,
        "embedding": roles.embedder, "rerank": roles.reranker,
    }  # fmt: skip
    checks: list[Check] = []
    for role, spec, why in describe(roles):
        model = models[role]
        if model is None:
            checks.append(Check(topic="Models", name=role, state="note", detail=f"{spec}: {why}"))
            continue
        tried = await check(model)
        state = "fine" if tried.ok else "problem"
        checks.append(Check(topic="Models", name=role, state=state, detail=tried.sentence, advice=why))
    return checks


async def _index(config: Config, engine: Engine) -> Check:
    stats = await engine.index.stats()
    kind = config.qdrant_url or "Qdrant Edge, embedded"
    large = config.qdrant_url is None and stats.chunks > MAX_EMBEDDED_CHUNKS
    return Check(
        topic="Stores",
        name="Index",
        state="note" if large else "fine",
        detail=f"{kind}: {stats.chunks:,} chunks by {engine.fingerprint.model}",
        advice="That is much for the embedded index. Set QDRANT_URL, then: kb reindex" if large else "",
    )


async def _documents(library: Library, workspace: str) -> Check:
    documents = await library.list(workspace)
    failed = [d for d in documents if d.latest.status.stage == "failed"]
    waiting = [d for d in documents if not d.latest.status.finished]
    detail = f"{len(documents)} in the workspace “{workspace}”, {len(waiting)} on their way"
    if failed:
        return Check(
            topic="Documents",
            name="Documents",
            state="note",
            detail=f"{detail}, {len(failed)} failed",
            advice="See: kb documents",
        )
    return Check(topic="Documents", name="Documents", state="fine", detail=detail)
