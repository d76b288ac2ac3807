"""What people see of the bot in Teams, in a client that Microsoft wrote: its Agents Playground, driven
through a whole conversation, with checks on the way and pictures at the main moments.

    npm install @microsoft/m365agentsplayground@0.2.28
    python -m tests.pictures.teams --playground \\
        node_modules/@microsoft/m365agentsplayground/cli.js docs/images

`kb serve` runs as its own process with the example handbook and a model that quotes its first source word
by word. What the Playground has no window for (files, dialogs) is sent as Teams sends it. Ends with exit
code 1 and a sentence where something is not as it should be.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import cast

from playwright.async_api import Error as WindowError
from rich.console import Console
from rich.table import Table

from bench.serving import Served, free_port
from bench.slack_faults import fill
from bot.app import open_app
from bot.config import Config
from bot.feedback import FeedbackStore
from tests.pictures.playground import WORLD, Relay, playground
from tests.pictures.playground_window import window
from tests.pictures.quoting_model import quoting_model
from tests.pictures.teams_steps import STEPS, THUMB
from tests.pictures.teams_visit import Visit


@asynccontextmanager
async def visit(cli: Path, data: Path) -> AsyncGenerator[Visit]:
    """The bot with its handbook, the Playground and its window."""
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(quoting_model(0.1))
        port = free_port()
        relay = await stack.enter_async_context(Relay(f"http://127.0.0.1:{port}/api/messages"))
        environment = os.environ | {
            "DATA_DIR": str(data / "footnote"), "HOST": "127.0.0.1", "PORT": str(port),
            "LOG_LEVEL": "info", "LOG_FORMAT": "json",
            "TEAMS_PLAYGROUND": "true", "TEAMS_GRAPH": "false", "TEAMS_FILE_ORIGIN": relay.url,
            "TEAMS_ADMINS": WORLD["currentUser"]["aadObjectId"],
            "ANSWER_MODEL": "openai:quoting", "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none",
            "FEATURE_FLAG_REPHRASE": "false", "FEATURE_FLAG_DOC_SUMMARIES": "false",
        }  # fmt: skip
        os.environ.update(environment)
        await fill(Config(), "teams", WORLD["tenantId"])
        served = Served(environment, data / "serve.log", port)
        await served.start()
        stack.push_async_callback(served.kill, signal.SIGTERM)
        client = await stack.enter_async_context(playground(cli, f"{relay.url}/api/messages", data))
        view = await stack.enter_async_context(window(client.url))
        yield Visit(client, relay, view, model)


async def kept_thumbs() -> list[tuple[str, str]]:
    """Ratings and reasons in the bot's store, when it has stopped."""
    async with open_app(Config()) as app:
        workspace = await app.workspaces.of("teams", WORLD["tenantId"])
        thumbs = await cast("FeedbackStore", app.feedback).all(workspace)
        return [(one["rating"], one["reason"]) for one in thumbs]


async def run(cli: Path, folder: Path) -> Table:
    """What was seen, by step. Raises `AssertionError` for what was not as it should be."""
    table = Table("Step", "Seen", title="In Microsoft's Agents Playground")
    with tempfile.TemporaryDirectory(prefix="footnote-playground-") as data:
        async with visit(cli, Path(data)) as visiting:
            visiting.pictures = folder
            for step in STEPS:
                name = (step.__doc__ or "").rstrip(".")
                try:
                    table.add_row(name, await step(visiting))
                except (AssertionError, WindowError) as error:
                    raise AssertionError(f"{name}: {str(error).splitlines()[0]}") from error
        thumbs = await kept_thumbs()
        assert thumbs == [("down", THUMB)], f"The bot kept these thumbs: {thumbs}"
        table.add_row("Thumbs in the bot's store", f"down, “{THUMB}”")
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--playground", type=Path, required=True, metavar="CLI_JS")
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    try:
        Console().print(asyncio.run(run(asked.playground.resolve(), asked.folder)))
    except (AssertionError, RuntimeError) as failed:
        sys.exit(str(failed))
