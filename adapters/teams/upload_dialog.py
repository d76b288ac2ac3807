"""How documents are added: files of a message, then a dialog that asks how; or a message's own action.

What waits for the dialog is kept in a note that only its person's dialog reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from adapters.forms import Field, Form, FormInvalid
from adapters.ports import Actor, Refused, UploadOptions
from adapters.teams import limits, work
from adapters.teams.activity import Invoked, Said
from adapters.teams.card import Json, actions, heading, message, one_line, opens, quiet, whole, words
from adapters.teams.context import Teams
from adapters.teams.dialog import actor_of, notice, opened, text_of
from adapters.teams.files import file_label
from adapters.teams.form_card import context_of, filled, form_card, submission_of
from adapters.teams.reference import Reference
from adapters.upload_form import FORM, options_form, read_options

#: Kind of the dialog; its data names the note. Kind of its submission.
UPLOAD: Final = "upload"
SUBMIT: Final = FORM
#: Seconds for which files wait for their dialog; addresses of files hold no longer.
KEEP: Final = 24 * 3600
#: Files of one message, and characters of a text, that are taken.
_FILES, _TEXT = 50, 100_000
_TITLE: Final = "Add documents"
_HOW: Final = "Attach files to a message to me here, and I add them."
_HOW_SHARED: Final = (
    "Attach files to a message that mentions me with “kb upload”, or send them to me alone."
)
_GONE: Final = "That was too long ago. Please send it again."
_ALREADY: Final = "I'm adding that already. A message shows how it goes."


async def offer(teams: Teams, said: Said, actor: Actor) -> Json:
    """The card under a message with files. Raises `Refused` for those who may not add documents."""
    await _may(teams, actor)
    if not said.files:
        how = _HOW if said.reference.direct else _HOW_SHARED
        return message(whole([words(how)]), _TITLE)
    files = list(said.files[:_FILES])
    key = await _keep(teams, said.name, said.who.user, said.reference, said.id, files=files)
    count = f"{len(files)} files" if len(files) > 1 else "this file"
    body = [heading(f"Add {'these ' if len(files) > 1 else ''}{count} to the knowledge base?")]
    body += [words(one_line(file_label(file), 200)) for file in files[:10]]
    body += [quiet(f"And {len(files) - 10} more.")] if len(files) > 10 else []
    body += actions([opens(f"Add {'these ' if len(files) > 1 else ''}{count}", UPLOAD, key=key)])
    return message(whole(body), _TITLE)


async def open_upload(teams: Teams, invoked: Invoked, data: Json) -> Json:
    """Raises `Refused` for those who may not add documents, or not these."""
    return await _form(teams, invoked, text_of(data, "key"))


async def open_action(teams: Teams, invoked: Invoked, data: Json) -> Json:  # noqa: ARG001
    """“Add to knowledge base” in the menu of a message: its files; or, where it has none, its words."""
    found: Any = invoked.value.get("messagePayload")
    payload = cast("Json", found) if isinstance(found, dict) else {}
    attached: Any = payload.get("attachments")
    files = [
        cast("Json", one)
        for one in (cast("list[Any]", attached) if isinstance(attached, list) else [])
        if isinstance(one, dict) and cast("Json", one).get("contentType") == "reference"
    ]
    message_id = str(payload.get("id") or "")
    said = None if files else _words(payload)
    if said is None and not files:
        raise Refused("There is nothing in that message that I can add.")
    key = await _keep(
        teams, f"{invoked.reference.tenant}:{invoked.reference.channel}:{message_id}:{invoked.id}",
        invoked.who.user, invoked.reference, message_id, files=files[:_FILES], said=said,
    )  # fmt: skip
    return await _form(teams, invoked, key)


async def submit_upload(teams: Teams, invoked: Invoked, data: Json) -> Json:
    """The form again with what is wrong; else that it goes on. By then the upload survives a kill."""
    key = context_of(data).get("key", "")
    kept, actor = await _kept(teams, invoked, key), await actor_of(teams, invoked)
    form = _options(actor, await teams.bot.documents.knowledge_bases(actor), kept, key)
    submission = submission_of(form, data)
    errors: Mapping[str, str] = {}
    try:
        options = read_options(form, submission)
        await teams.bot.documents.upload(actor, (), options)
    except FormInvalid as error:
        errors, options = error.errors, None
    except Refused as error:
        errors, options = {"audience": str(error)}, None
    if options is None:
        return opened(_TITLE, form_card(filled(form, submission), SUBMIT, errors=errors))
    files: list[Json] = json.loads(kept["files"])
    said = json.loads(kept["said"]) if "said" in kept else None
    accepted = await teams.bot.inbox.accept(
        work.incoming(
            work.UPLOAD,
            key,
            # Of its own: one upload does not wait for another.
            lane=f"{invoked.reference.tenant}:{key}",
            payload={
                "reference": json.loads(kept["reference"]),
                "who": invoked.who.model_dump(mode="json"),
                "files": files,
                "said": said,
                "knowledge_base": options.knowledge_base,
                "labels": list(options.labels),
                "audience": options.audience,
                "same_name": options.same_name,
                "message": kept["message"] or None,
            },
        )
    )
    if not accepted:
        return notice(_TITLE, _ALREADY)
    what = "that message" if said is not None else "1 file" if len(files) == 1 else f"{len(files)} files"
    return notice(_TITLE, f"I'm adding {what}. A message shows how it goes.")


async def _may(teams: Teams, actor: Actor) -> None:
    """No file yet: this tells whether the person may add documents at all."""
    await teams.bot.documents.upload(actor, (), UploadOptions(audience="person"))


async def _form(teams: Teams, invoked: Invoked, key: str) -> Json:
    kept, actor = await _kept(teams, invoked, key), await actor_of(teams, invoked)
    await _may(teams, actor)
    form = _options(actor, await teams.bot.documents.knowledge_bases(actor), kept, key)
    return opened(form.title, form_card(form, SUBMIT))


def _options(actor: Actor, knowledge_bases: Sequence[str], kept: Mapping[str, str], key: str) -> Form:
    files: list[Json] = json.loads(kept["files"])
    named = [file_label(file) for file in files] or ["The message, or the thread that it stands in"]
    info = Field(name="files", label="\n".join(one_line(name, 200) for name in named[:10]), kind="info",
                 help=f"And {len(named) - 10} more." if len(named) > 10 else "")  # fmt: skip
    return options_form(actor, knowledge_bases, most=limits.OPTIONS, before=(info,), context={"key": key})


async def _keep(
    teams: Teams,
    name: str,
    user: str,
    reference: Reference,
    message_id: str,
    *,
    files: list[Json],
    said: Json | None = None,
) -> str:
    """Gives the key of the note."""
    key = hashlib.sha256(f"{name}:{user}".encode()).hexdigest()[:32]
    fields = {
        "user": user,
        "reference": reference.model_dump_json(),
        "message": message_id,
        "files": json.dumps(files),
        **({"said": json.dumps(said)} if said is not None else {}),
    }
    await teams.bot.notes.write(_note(reference.tenant, key), fields, seconds=KEEP)
    return key


async def _kept(teams: Teams, invoked: Invoked, key: str) -> dict[str, str]:
    """Raises `Refused` where nothing is kept any more, or it is another person's."""
    kept = await teams.bot.notes.read(_note(invoked.reference.tenant, key)) if key else {}
    if "files" not in kept:
        raise Refused(_GONE)
    if kept["user"] != invoked.who.user:
        raise Refused("Only the one who sent that can add it.")
    return kept


def _note(tenant: str, key: str) -> str:
    return f"teams-files:{tenant}:{key}"


def _words(payload: Json) -> Json | None:
    """What of the message makes the document; None where it has no words."""
    kept = {
        name: payload[name]
        for name in ("id", "replyToId", "createdDateTime", "from", "body", "mentions", "linkToMessage")
        if name in payload
    }
    body: Any = kept.get("body")
    content: Any = cast("Json", body).get("content") if isinstance(body, dict) else None
    if not isinstance(content, str) or not content.strip() or len(content) > _TEXT:
        return None
    return kept
