"""A neutral form as a Slack modal, and what a person entered there as a submission."""

from __future__ import annotations

import json
from typing import Any, Final, cast

from adapters.forms import Field, Form, FormResult, Submission
from adapters.slack import limits
from adapters.slack.kit import Json, header, modal, plain, quiet

_BLOCK, _ACTION = "field:", "value"
_ON: Final = "on"
CHANGED: Final = "Somebody saved in between. These are the values as they are now; enter yours again."


def view_of(form: Form, callback_id: str, *, note: str = "") -> Json:
    """Raises `ValueError` for a form that carries more than a modal can."""
    blocks: list[Json] = [quiet(note)] if note else []
    if form.intro:
        blocks.append(quiet(form.intro))
    group = ""
    for field in form.fields:
        if field.group != group:
            group = field.group
            blocks.append(header(group))
        blocks.append(_block(field))
    carried = json.dumps({"form": form.id, "revision": form.revision, "context": form.context})
    if len(carried) > limits.PRIVATE_METADATA or len(blocks) > limits.VIEW_BLOCKS:
        raise ValueError(f"The form {form.id} is too large for a modal.")
    view = modal(form.title, blocks, callback_id=callback_id, private_metadata=carried)
    view["submit"] = plain(form.submit, limits.MODAL_TITLE)
    view["close"] = plain("Cancel", limits.MODAL_TITLE)
    return view


def submission_of(view: Json) -> Submission:
    """From a `view_submission`; values are what was entered, an emptied field is empty."""
    carried = json.loads(view.get("private_metadata") or "{}")
    state = cast("dict[str, dict[str, Json]]", (view.get("state") or {}).get("values") or {})
    values = {
        block.removeprefix(_BLOCK): _entered(next(iter(elements.values())))
        for block, elements in state.items()
        if block.startswith(_BLOCK) and elements
    }
    return Submission(
        form_id=str(carried.get("form") or ""),
        values=values,
        revision=int(carried.get("revision") or 0),
        context=carried.get("context") or {},
    )


def answer_of(result: FormResult, callback_id: str, shown: Json) -> Json:
    """What a submission is acknowledged with: errors at their fields, the form anew, or nothing."""
    if result.conflict is not None:
        return {"response_action": "update", "view": view_of(result.conflict, callback_id, note=CHANGED)}
    if result.errors:
        return errors_of(result.errors, shown)
    return {}


def errors_of(errors: dict[str, str], shown: Json) -> Json:
    """Slack shows errors at inputs only: those of other fields stand at the first input."""
    inputs = [block["block_id"] for block in shown["blocks"] if block.get("type") == "input"]
    placed: dict[str, str] = {}
    for name, text in errors.items():
        at = _BLOCK + name if _BLOCK + name in inputs else inputs[0]
        placed[at] = f"{placed[at]} {text}" if at in placed else text
    return {"response_action": "errors", "errors": placed}


def _entered(element: Json) -> Any:
    match element.get("type"):
        case "checkboxes":
            return bool(element.get("selected_options"))
        case "static_select":
            return str((element.get("selected_option") or {}).get("value") or "")
        case "multi_static_select":
            return [str(option["value"]) for option in element.get("selected_options") or []]
        case "file_input":
            return [str(file["id"]) for file in element.get("files") or []]
        case _:
            return element.get("value") or ""


def _block(field: Field) -> Json:
    if field.disabled_because is not None:
        return quiet(f"{field.label}: {field.disabled_because}")
    if field.kind == "info":
        return quiet(f"{field.label} {field.help}".strip())
    element = _element(field)
    if element is None:
        return quiet(f"{field.label}: can't be changed here.")
    block: Json = {
        "type": "input",
        "block_id": _BLOCK + field.name,
        "label": plain(field.label, limits.INPUT_LABEL),
        "element": element,
        # Of a box that may be left empty, Slack would make a box that must be ticked.
        "optional": not field.required or field.kind == "toggle",
    }
    if field.help:
        block["hint"] = plain(field.help, limits.INPUT_HINT)
    return block


def _element(field: Field) -> Json | None:
    """None where Slack has no element that holds the field's value whole."""
    match field.kind:
        case "text" | "long_text":
            value = str(field.value or "")
            most = min(field.max_length or limits.INPUT_TEXT, limits.INPUT_TEXT)
            if len(value) > most:
                return None
            made: Json = {
                "type": "plain_text_input",
                "action_id": _ACTION,
                "multiline": field.kind == "long_text",
                "max_length": most,
            }
            if value:
                made["initial_value"] = value
        case "number":
            made = {"type": "number_input", "action_id": _ACTION, "is_decimal_allowed": field.step != 1}
            if field.value is not None:
                made["initial_value"] = f"{field.value:g}" if field.step != 1 else str(int(field.value))
            for name, bound in (("min_value", field.minimum), ("max_value", field.maximum)):
                if bound is not None:
                    made[name] = f"{bound:g}"
        case "toggle":
            option = {"text": plain("On"), "value": _ON}
            made = {"type": "checkboxes", "action_id": _ACTION, "options": [option]}
            if field.value:
                made["initial_options"] = [option]
            return made
        case "file":
            return {
                "type": "file_input",
                "action_id": _ACTION,
                "max_files": min(field.max_files, limits.INPUT_FILES),
            }
        case _:
            return _select(field)
    if field.placeholder:
        made["placeholder"] = plain(field.placeholder, limits.PLACEHOLDER)
    return made


def _select(field: Field) -> Json | None:
    several = field.kind == "choices"
    chosen = set(cast("list[str]", field.value or []) if several else [field.value])
    options = [
        {"text": plain(option.label, limits.OPTION_TEXT), "value": option.value} for option in field.options
    ]
    fits = all(0 < len(option["value"]) <= limits.OPTION_VALUE for option in options)
    if not options or len(options) > limits.SELECT_OPTIONS or not fits:
        return None
    initial = [option for option in options if option["value"] in chosen]
    made: Json = {"type": "static_select", "action_id": _ACTION, "options": options}
    if several:
        made["type"] = "multi_static_select"
        if initial:
            made["initial_options"] = initial
    elif initial:
        made["initial_option"] = initial[0]
    return made
