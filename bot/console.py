"""How a command of `kb` runs, speaks and fails."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from adapters.ports import Actor, Refused
from bot.config import Config
from bot.connect import Knowledge, choose_workspace, connect, local_actor
from bot.logs import configure_logging
from bot.rpc import OwnerGone, RemoteError

out, err = Console(highlight=False), Console(stderr=True, highlight=False)

Workspace = Annotated[str | None, typer.Option("--workspace", "-w", help="Default: the only one there is.")]
AsJson = Annotated[bool, typer.Option("--json", help="For scripts.")]


def fail(message: str, code: int = 1) -> NoReturn:
    err.print(f"[red]✗[/] {escape(message)}", soft_wrap=True)
    raise typer.Exit(code)


def must_exist(paths: Iterable[Path]) -> None:
    for path in paths:
        if not path.exists():
            fail(f"There is no file or folder “{path}”.")


def load_config(*, serving: bool) -> Config:
    try:
        config = Config()
    except ValidationError as error:
        lines = [f"{str(e['loc'][-1]).upper()}: {e['msg']}" for e in error.errors()]
        fail("The configuration is not right. " + " ".join(lines), 2)
    # Someone at a terminal wants the answer, not the steps to it.
    configure_logging(config, least="info" if serving else "warning")
    return config


def run(work: Callable[[Config], Coroutine[Any, Any, None]], *, serving: bool = False) -> None:
    """Run a command to its end, and turn what can go wrong into one sentence."""
    config = load_config(serving=serving)
    try:
        asyncio.run(work(config))
    except Refused as error:
        fail(str(error))
    except (OwnerGone, RemoteError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except Exception as error:
        from bot.problems import explain  # imports what only an owner needs

        sentence = explain(error)
        if sentence is None:
            raise
        fail(sentence)


def with_actor(
    work: Callable[[Knowledge, Actor], Awaitable[None]], workspace: str | None, *, rebuilding: bool = False
) -> None:
    async def connected(config: Config) -> None:
        async with connect(config, rebuilding=rebuilding) as knowledge:
            await work(knowledge, local_actor(await choose_workspace(knowledge, workspace)))

    run(connected)


def dump(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
