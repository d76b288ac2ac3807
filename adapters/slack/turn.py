"""A Slack message as a neutral Turn."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from adapters.attached import attached
from adapters.conversation import Message, Person, Turn, UploadedFile
from adapters.slack.context import Installed, Slack
from adapters.slack.event import Said
from adapters.slack.files import download
from adapters.slack.history import history
from adapters.slack.message import message_of, time_of


def files_of(
    slack: Slack, installed: Installed, said: Said
) -> AbstractAsyncContextManager[tuple[tuple[UploadedFile, ...], tuple[str, ...]]]:
    """The question's files while the context is open, and a sentence for each that can't be had."""
    return attached(said.files, lambda file: download(slack, installed, file, slack.spool))


async def asker(slack: Slack, installed: Installed, user: str) -> Person:
    """Who asks, with the user groups they are in."""
    person = await slack.people.person(installed, user)
    return person.model_copy(update={"groups": await slack.people.groups(installed, user)})


async def turn_of(slack: Slack, installed: Installed, said: Said, turn_id: str) -> Turn:
    """The question with its thread, without its files. Names that Slack does not tell are left as they
    are."""
    conversation = await slack.conversation(installed, said.channel, thread=said.root)
    question = await message_of(slack, installed, said)
    author = question.author
    assert author is not None, "read_event takes questions of persons only"
    return Turn(
        id=turn_id,
        workspace=await slack.workspace(installed),
        conversation=conversation,
        asker=await asker(slack, installed, author.id),
        text=question.text,
        history=await history(slack, installed, conversation, before=said.ts, store=slack.bot.transcript),
        locale=await slack.people.locale(installed, said.user or ""),
    )


def question_of(turn: Turn, said: Said) -> Message:
    """The question as the thread's history keeps it."""
    return Message(id=said.ts, role="person", author=turn.asker, text=turn.text, at=time_of(said.ts))
