"""`/kb upload` as a modal, and "Add to knowledge base" in the menu of a message."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, cast

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.durable import Incoming
from adapters.forms import Field, Form, FormInvalid
from adapters.ports import Actor, Refused, UploadOptions
from adapters.slack import limits, work
from adapters.slack.context import Slack
from adapters.slack.modal import context_of, errors_of, form_view, submission_of
from adapters.slack.submission import acknowledge
from adapters.slack.surface import Act, acknowledging, open_view
from adapters.upload_form import FORM, options_form, read_options

log = structlog.get_logger()

CALLBACK: Final = FORM
#: Of the message shortcut in the app's manifest.
SHORTCUT: Final = "add_to_knowledge_base"
#: Seconds by which Slack's clock may be behind ours.
_SKEW: Final = 120
_AGAIN: Final = "Please upload again."


def upload_form(actor: Actor, knowledge_bases: Sequence[str], *, channel: str | None) -> Form:
    """With a field for the files themselves."""
    files = Field(
        name="files", label="Files", kind="file", required=True, max_files=limits.FILES,
        help="Up to 10 files of 10 MB each. Share larger ones with me in a direct message.",
    )  # fmt: skip
    return options_form(
        actor, knowledge_bases, most=limits.OPTIONS, before=(files,),
        context={"channel": channel} if channel else {},
    )  # fmt: skip


def read_upload(form: Form, view: dict[str, Any]) -> tuple[list[str], UploadOptions]:
    """Ids of files, and how to add them. Raises `FormInvalid`."""
    submission = submission_of(form, view)
    files = cast("list[str]", submission.values.get("files") or [])
    errors = {} if files else {"files": "Choose at least one file."}
    return files, read_options(form, submission, errors)


async def open_upload(slack: Slack, act: Act) -> None:
    """Raises `Refused` for those who may not add documents."""
    actor = await act.actor(slack)
    # No file yet: this tells whether the person may at all.
    await slack.bot.documents.upload(actor, (), UploadOptions(audience="person"))
    names = await slack.bot.documents.knowledge_bases(actor)
    await open_view(slack, act, form_view(upload_form(actor, names, channel=act.channel), CALLBACK))


async def submit_upload(slack: Slack, body: dict[str, Any]) -> dict[str, Any]:
    """What the submission is acknowledged with. When this returns, the upload survives a kill."""
    act, view = Act.of(body), body["view"]
    channel = context_of(view).get("channel")
    actor = await slack.actor(await act.installed(slack), act.user, channel)
    form = upload_form(actor, await slack.bot.documents.knowledge_bases(actor), channel=channel)
    try:
        files, options = read_upload(form, view)
    except FormInvalid as error:
        return {"response_action": "errors", "errors": errors_of(form, view, error.errors)}
    try:
        await slack.bot.documents.upload(actor, (), options)
    except Refused as error:
        return {"response_action": "errors", "errors": errors_of(form, view, {"audience": str(error)})}
    await slack.bot.inbox.accept(
        _upload(
            act, f"view:{view['id']}", channel, files,
            knowledge_base=options.knowledge_base,
            labels=list(options.labels),
            audience=options.audience,
            same_name=options.same_name,
        )
    )  # fmt: skip
    return {}


def shortcut_work(body: dict[str, Any]) -> Incoming:
    """A message's files; or, where it has none, its thread."""
    act, message = Act.of(body), body["message"]
    channel = act.channel or ""
    name = f"{channel}:{message['ts']}:{body.get('action_ts') or act.trigger}"
    files = [file["id"] for file in message.get("files") or [] if isinstance(file.get("id"), str)]
    if files:
        return _upload(act, name, channel, files)
    return work.incoming(
        work.SAVE_THREAD,
        f"{act.team}:{name}",
        lane=f"{act.team}:{act.user}:thread",
        payload={
            **act.place(channel),
            "thread": message.get("thread_ts") or message["ts"],
            "since": _now(),
        },
    )


def _upload(act: Act, name: str, channel: str | None, files: list[str], **options: Any) -> Incoming:
    return work.incoming(
        work.UPLOAD,
        f"{act.team}:{name}",
        # Of its own: one upload does not wait for another.
        lane=f"{act.team}:{act.user}:{name}",
        payload={
            **act.place(channel),
            "files": files,
            "notify": None,
            "thread": None,
            "since": _now(),
            **options,
        },
    )


def _now() -> str:
    return f"{time.time() - _SKEW:.6f}"


def register(app: AsyncApp, slack: Slack) -> None:
    @app.view(CALLBACK)
    async def submitted(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        await acknowledge(ack, body["view"], submit_upload(slack, body), "upload", again=_AGAIN)

    @app.shortcut(SHORTCUT)
    async def add(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        act = Act.of(body)
        async with acknowledging(ack, lambda text: act.tell(slack, text), "shortcut"):
            accepted = shortcut_work(body)
            await slack.bot.inbox.accept(accepted)
            await ack()
            what = "those files" if accepted.kind == work.UPLOAD else "that thread"
            await act.tell(slack, f"I'm adding {what}. Our direct messages show how it goes.")
