"""One field of a neutral form as blocks of a card, and what a person put into it. Pure."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Final, cast

from adapters.forms import Field
from adapters.short import utf16
from adapters.teams import limits
from adapters.teams.card import Json, alert, one_line, quiet, safe, words

#: Begins what stands for a value that can't be told from another in what Teams sends.
_DIGEST: Final = "~"
_LABEL, _OPTION = 200, 200


def input_id(name: str) -> str:
    """Of the field's input: apart from what else the submission holds."""
    return f"field.{name}"


def field_blocks(field: Field, error: str = "") -> tuple[list[Json], bool]:
    """The field with its help and what is wrong with it; whether there is something to fill in. It is a
    quiet line where it is off or where Teams can't hold what it holds."""
    label = one_line(field.label, _LABEL) or one_line(field.name, _LABEL)
    if field.kind == "info":
        text = "\n".join(filter(str.strip, (field.label, str(field.value or ""), field.help)))
        return ([words(text)] if text else []), False
    if field.disabled_because is not None:
        return [quiet(f"{label}: {field.disabled_because}")], False
    element = _element(field)
    if element is None:
        why = "attach them to a message" if field.kind == "file" else "this can't be changed in Teams"
        return [quiet(f"{label}: {why}.")], False
    blocks: list[Json] = [alert(error)] if error else []
    title = {"title": label} if field.kind == "toggle" else {"label": label}
    blocks.append({**element, "id": input_id(field.name), **title})
    if field.help.strip():
        blocks.append(quiet(field.help))
    return blocks, True


def field_value(field: Field, sent: Any) -> Any:
    """What a person put in; `sent` is None where the client left it out. Not yet validated."""
    match field.kind:
        case "toggle":
            return str(sent).strip().lower() == "true"
        case "choice":
            return _meant(field, str(sent)) if sent else None
        case "choices":
            return [_meant(field, key) for key in str(sent).split(",") if key] if sent else []
        case "number":
            return sent if sent != "" else None
        case _:
            return "" if sent is None else str(sent).replace("\r\n", "\n")


def _element(field: Field) -> Json | None:
    match field.kind:
        case "text" | "long_text":
            return _text(field)
        case "number":
            return {"type": "Input.Number", **_bounds(field), **_needed(field), **_placeholder(field)}
        case "toggle":
            value = "true" if field.value else "false"
            return {"type": "Input.Toggle", "value": value, "valueOn": "true", "valueOff": "false"}
        case "choice" | "choices":
            return _choices(field)
        case _:
            return None


def _text(field: Field) -> Json | None:
    value = "" if field.value is None else str(field.value)
    if utf16(value) > limits.INPUT:
        return None
    element: Json = {
        "type": "Input.Text",
        "isMultiline": field.kind == "long_text" or "\n" in value,
        "maxLength": min(limits.INPUT, max(field.max_length or limits.INPUT, utf16(value), 1)),
    }
    if value:
        element["value"] = value
    return element | _needed(field) | _placeholder(field)


def _bounds(field: Field) -> Json:
    """A client refuses what is outside, so a value that is stays out of the card."""
    found: Json = {}
    low, high, value = field.minimum, field.maximum, _number(field.value)
    if low is not None:
        found["min"] = math.ceil(low) if field.step == 1 else low
    if high is not None:
        found["max"] = math.floor(high) if field.step == 1 else high
    if value is not None and (low is None or value >= low) and (high is None or value <= high):
        found["value"] = value
    return found


def _number(value: Any) -> int | float | None:
    """Also one that a person has typed."""
    if isinstance(value, str):
        try:
            value = float(value.strip().replace(",", "."))
        except ValueError:
            return None
        value = int(value) if value.is_integer() else value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _choices(field: Field) -> Json | None:
    options = {option.value: option for option in field.options}
    if not options or len(options) > limits.OPTIONS:
        return None
    several = field.kind == "choices"
    chosen = cast("list[Any]", field.value) if isinstance(field.value, list | tuple) else [field.value]
    keys = [_key(value) for value in chosen if isinstance(value, str) and value in options]
    element: Json = {
        "type": "Input.ChoiceSet",
        "isMultiSelect": several,
        "style": "expanded" if several and len(options) <= limits.CHECKBOXES else "compact",
        "choices": [
            {
                "title": one_line(one.label, _OPTION) or one_line(value, _OPTION) or "…",
                "value": _key(value),
            }
            for value, one in options.items()
        ],
    }
    if keys:
        element["value"] = ",".join(keys) if several else keys[0]
    return element | _needed(field) | _placeholder(field)


def _needed(field: Field) -> Json:
    return {"isRequired": True, "errorMessage": "This is needed."} if field.required else {}


def _placeholder(field: Field) -> Json:
    text = safe(field.placeholder, _LABEL)
    return {"placeholder": text} if text else {}


def _key(value: str) -> str:
    """The value, or what stands for one: Teams joins several by commas, and knows no empty one."""
    if value.strip() == value and value and "," not in value and not value.startswith(_DIGEST):
        return value
    return _DIGEST + hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _meant(field: Field, key: str) -> str:
    if not key.startswith(_DIGEST):
        return key
    return next((option.value for option in field.options if _key(option.value) == key), key)
