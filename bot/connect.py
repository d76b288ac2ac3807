"""How a command reaches the bot: as the owner of the data folder, or through the owner's socket."""

from __future__ import annotations

import getpass
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.conversation import Conversation, Person
from adapters.ports import (
    Actor,
    Answers,
    Documents,
    FeedbackBook,
    Refused,
    Sources,
    Workspaces,
    WorkspaceSettings,
)
from bot.admin import Admin
from bot.config import Config
from bot.eval_desk import Evaluations
from bot.owner import DataFolder, OwnedElsewhere, serve_socket, wait_for_socket
from bot.rpc import Remote, Served
from bot.workspaces import LOCAL, NAME

if TYPE_CHECKING:
    from bot.app import App


@dataclass(frozen=True)
class Knowledge:
    """The ports that the command line uses, here or in another process."""

    answers: Answers
    documents: Documents
    settings: WorkspaceSettings
    feedback: FeedbackBook
    sources: Sources
    workspaces: Workspaces
    admin: Admin
    evaluations: Evaluations


PORTS: dict[str, type] = {
    "answers": Answers,
    "documents": Documents,
    "settings": WorkspaceSettings,
    "feedback": FeedbackBook,
    "sources": Sources,
    "workspaces": Workspaces,
    "admin": Admin,
    "evaluations": Evaluations,
}


@asynccontextmanager
async def own(config: Config, *, rebuilding: bool = False) -> AsyncGenerator[App]:
    """Open the bot as the owner of the data folder, and let other commands work through this process.

    `rebuilding` opens an index that another embedding model filled, which only `kb reindex` may.
    Raises `OwnedElsewhere`.
    """
    folder = DataFolder(config.data_dir)
    folder.own()
    try:
        from bot.app import open_app  # the whole bot: a command that works through an owner does without

        async with open_app(config, rebuilding=rebuilding) as app:
            if sys.platform == "win32":
                yield app
                return
            served = Served({name: (port, getattr(app, name)) for name, port in PORTS.items()})
            async with serve_socket(served.application(), folder.control):
                yield app
    finally:
        folder.release()


@asynccontextmanager
async def connect(config: Config, *, rebuilding: bool = False) -> AsyncGenerator[Knowledge]:
    """Own the data folder, or work through the process that does."""
    async with AsyncExitStack() as stack:
        knowledge: Knowledge | None = None
        while knowledge is None:
            try:
                app = await stack.enter_async_context(own(config, rebuilding=rebuilding))
            except OwnedElsewhere:
                knowledge = await _through_owner(config, stack)
            else:
                knowledge = Knowledge(**{name: getattr(app, name) for name in PORTS})
        yield knowledge


async def _through_owner(config: Config, stack: AsyncExitStack) -> Knowledge | None:
    """None if the owner has ended since. Raises `Refused` for one that does not answer."""
    folder = DataFolder(config.data_dir)
    if await wait_for_socket(folder.control):
        remote = Remote(str(folder.control))
        stack.push_async_callback(remote.close)
        return Knowledge(**{name: remote.port(name, port) for name, port in PORTS.items()})
    try:
        folder.own()
    except OwnedElsewhere:
        raise Refused(
            f"Another Footnote (process {folder.owner()}) uses {config.data_dir} but does not answer. "
            "Stop it, or set DATA_DIR to another folder."
        ) from None
    folder.release()
    return None


async def choose_workspace(knowledge: Knowledge, wanted: str | None) -> str:
    """The one asked for, else the only one there is, else a first one."""
    if wanted is not None:
        if not NAME.fullmatch(wanted):
            raise Refused("A workspace's name has up to 63 of: a-z, 0-9, dot, dash and underscore.")
        if wanted in await knowledge.admin.workspaces():
            return wanted
        return await knowledge.workspaces.of("cli", wanted)
    known = await knowledge.admin.workspaces()
    if not known:
        return await knowledge.workspaces.of("cli", LOCAL)
    if len(known) == 1:
        return known[0]
    raise Refused(f"Say which workspace with --workspace: {', '.join(known)}.")


def local_actor(workspace: str) -> Actor:
    """The person at this terminal, who owns the data folder and so may do everything here."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "local"
    return Actor(
        workspace=workspace,
        person=Person(id=user, name=user, is_admin=True),
        conversation=Conversation(platform="cli", tenant=workspace, id=user, kind="direct"),
    )
