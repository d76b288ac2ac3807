"""A message of Teams as a neutral Turn."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from adapters.attached import attached
from adapters.conversation import Turn, UploadedFile
from adapters.teams.activity import Said
from adapters.teams.commands import question_of
from adapters.teams.context import Teams
from adapters.teams.files import download
from adapters.teams.history import history


def files_of(
    teams: Teams, said: Said
) -> AbstractAsyncContextManager[tuple[tuple[UploadedFile, ...], tuple[str, ...]]]:
    """The question's files while the context is open, and a sentence for each that can't be had."""
    return attached(said.files, lambda file: download(teams, said.reference, file))


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
