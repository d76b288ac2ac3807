"""What the command line asks of the owner beyond the adapters' ports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, Protocol

from adapters.conversation import Neutral


class Check(Neutral):
    """One line of `kb doctor`. `advice` says what to do, for what is not fine."""

    topic: str
    name: str
    state: Literal["fine", "note", "problem"]
    detail: str
    advice: str = ""


class ReindexProgress(Neutral):
    """How far a rebuild is, in documents."""

    done: int
    total: int
    name: str = ""
    failed: int = 0


class Admin(Protocol):
    async def workspaces(self) -> list[str]: ...

    async def doctor(self, workspace: str) -> list[Check]:
        """Tries each model and store."""
        ...

    def reindex(self) -> AsyncIterator[ReindexProgress]:
        """Rebuild every workspace's index from the stored text, while the old one answers."""
        ...
