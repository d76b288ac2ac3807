"""A message of Teams as a neutral Turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from adapters.conversation import Turn, UploadedFile
from adapters.ports import Refused
from adapters.teams.activity import Said
from adapters.teams.commands import question_of
from adapters.teams.context import Teams
from adapters.teams.files import download
from adapters.teams.history import history

#: Files of one question that are read.
_FILES: Final = 10


@asynccontextmanager
async def attached(
    teams: Teams, said: Said
) -> AsyncGenerator[tuple[tuple[UploadedFile, ...], tuple[str, ...]]]:
    """The files of a question while the context is open, and a sentence for each that can't be had."""
    files: list[UploadedFile] = []
    missing: list[str] = []
    try:
        for file in said.files[:_FILES]:
            try:
                files.append(await download(teams, said.reference, file))
            except Refused as error:
                missing.append(str(error))
        if len(said.files) > _FILES:
            missing.append(f"I read the first {_FILES} files only.")
        yield tuple(files), tuple(missing)
    finally:
        for file in files:
            await asyncio.to_thread(file.path.unlink, missing_ok=True)


async def turn_of(teams: Teams, said: Said, turn_id: str) -> Turn:
    """The question with its thread, without its files."""
    reference, who = said.reference, said.who
    actor = await teams.actor(reference, who.user, aad=who.aad, name=who.name)
    return Turn(
        id=turn_id,
        workspace=actor.workspace,
        conversation=actor.conversation,
        asker=actor.person,
        text=question_of(said.text),
        history=await history(teams, said),
        locale=said.locale,
    )
