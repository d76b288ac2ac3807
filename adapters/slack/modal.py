"""A neutral form as a Slack modal, and a filled modal as a Submission. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from adapters.forms import Field, Form, Submission
from adapters.short import cut16, utf16
from adapters.slack import limits
from adapters.slack.kit import Json, plain, quiet_line, section
from adapters.slack.modal_fields import field_block, field_value
from adapters.slack.validate import PayloadTooLarge

_TOO_MANY: Final = "There is more than Slack can show. Change the rest on the settings page."
_CONFLICT: Final = (
    "Somebody else saved in between, so nothing of yours was saved. This is how it stands now: please make "
    "your changes again."
)
#: Characters of an error at a field.
_ERROR: Final = 300


def form_view(form: Form, callback_id: str, *, line: str = "") -> Json:
    """The modal.

    Args:
        line: said above everything else.

    Raises:
        PayloadTooLarge: for a form whose context is larger than what Slack carries.
    """
    carried = json.dumps(
        {"form": form.id, "revision": form.revision, "context": form.context}, ensure_ascii=False
    )
    if utf16(carried) > limits.PRIVATE_METADATA:
        raise PayloadTooLarge("/private_metadata", f"at most {limits.PRIVATE_METADATA} characters")
    blocks: list[Json] = []
    for text in filter(str.strip, (line, form.intro)):
        blocks.append(section(text))
    fields, full = list(_fields(form)), False
    for position, block in enumerate(fields):
        if len(blocks) == limits.VIEW_BLOCKS - 1 and position < len(fields) - 1:
            full = True
            break
        blocks.append(block)
    if full or not blocks:
        text = _TOO_MANY if full else "There is nothing to fill in."
        blocks.append(quiet_line(text))
    view: Json = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain(form.title, limits.VIEW_TITLE),
        "close": plain("Cancel", limits.VIEW_TITLE),
        "private_metadata": carried,
        "blocks": blocks,
    }
    if any(block["type"] == "input" for block in blocks):
        view["submit"] = plain(form.submit, limits.VIEW_TITLE)
    return view


def conflict_view(fresh: Form, callback_id: str) -> Json:
    """The form as it is now, after somebody else saved."""
    return form_view(fresh, callback_id, line=_CONFLICT)


def context_of(view: Json) -> dict[str, str]:
    """What the form carried."""
    return _carried(view)[2]


def submission_of(form: Form, view: Json) -> Submission:
    """What a person filled in.

    Args:
        form: as it is now; it may have changed since the modal was opened, which its revision tells.
        view: as Slack sends it with `view_submission`.

    Fields that the modal did not show are left out, so they keep the form's values.
    """
    form_id, revision, context = _carried(view)
    state = cast("dict[str, dict[str, Json]]", (view.get("state") or {}).get("values") or {})
    values: dict[str, Any] = {}
    for field in form.fields:
        for element in state.get(_block_id(revision, field.name), {}).values():
            values[field.name] = field_value(field, element)
    return Submission(form_id=form_id, values=values, revision=revision, context=context)


def errors_of(form: Form, view: Json, errors: Mapping[str, str]) -> dict[str, str]:
    """Errors by field name as Slack wants them, by block. Those of fields that the modal does not show
    stand at its first field, with their names."""
    revision = _carried(view)[1]
    shown = [block["block_id"] for block in view["blocks"] if block["type"] == "input"]
    labels = {field.name: field.label for field in form.fields}
    found: dict[str, str] = {}
    elsewhere: list[str] = []
    for name, text in errors.items():
        block_id = _block_id(revision, name)
        if block_id in shown:
            found[block_id] = cut16(text, _ERROR)
        else:
            elsewhere.append(f"{labels.get(name) or name}: {text}")
    if elsewhere and shown:
        said = [found[shown[0]]] if shown[0] in found else []
        found[shown[0]] = cut16(" ".join([*said, *elsewhere]), _ERROR)
    return found


def at_first_field(view: Json, text: str) -> dict[str, str]:
    """What is wrong with no field in particular."""
    first = next(block["block_id"] for block in view["blocks"] if block["type"] == "input")
    return {first: cut16(text, _ERROR)}


def _block_id(revision: int, name: str) -> str:
    """With the revision: for a block that it knows, Slack would keep what a person has typed, where the
    values as they are now shall stand."""
    return f"{revision}:{name}"[: limits.IDENTIFIER]


def _fields(form: Form) -> Iterable[Json]:
    """Groups under their headings, in the order in which they first appear."""
    groups: dict[str, list[Field]] = {}
    for field in form.fields:
        groups.setdefault(field.group.strip(), []).append(field)
    for group, fields in groups.items():
        blocks = [field_block(field, _block_id(form.revision, field.name)) for field in fields]
        if group and any(blocks):
            yield {"type": "header", "text": plain(group, limits.HEADER_TEXT)}
        yield from (block for block in blocks if block is not None)


def _carried(view: Json) -> tuple[str, int, dict[str, str]]:
    carried = json.loads(view.get("private_metadata") or "{}")
    return str(carried.get("form", "")), int(carried.get("revision", 0)), dict(carried.get("context", {}))
