"""One field of a neutral form as Slack blocks, and what a person put into it. Pure."""

from __future__ import annotations

import hashlib
import math
from decimal import Decimal
from typing import Any, Final, cast

from adapters.forms import Field, Option
from adapters.short import cut16, utf16
from adapters.slack import limits
from adapters.slack.kit import Json, plain, quiet_line, section
from adapters.slack.render import plain_text

_ON: Final = "on"
#: Begins what stands for a value that is too long for an option.
_DIGEST: Final = "~"
#: Characters of a number.
_DIGITS: Final = 40


def field_block(field: Field, block_id: str) -> Json | None:
    """The field; or a quiet line, where it is off or where Slack can't hold what it holds. None: nothing
    to show."""
    if field.kind == "info":
        text = "\n".join(filter(None, (field.label, str(field.value or ""), field.help)))
        return section(text) if text.strip() else None
    label = field.label.strip() or field.name
    if field.disabled_because is not None:
        return quiet_line(f"{label}: {field.disabled_because}")
    element = _element(field)
    if element is None:
        return quiet_line(f"{label}: this can't be changed in Slack. Use the settings page.")
    block: Json = {
        "type": "input",
        "block_id": block_id,
        "label": plain(label, limits.LABEL),
        "element": {"action_id": field.name[: limits.IDENTIFIER], **element},
        # A choice always has its value; of a box that may stay empty, Slack would make one to be ticked.
        "optional": field.kind == "toggle"
        or not (field.required or (field.kind == "choice" and field.value)),
    }
    if field.help.strip():
        block["hint"] = plain(field.help, limits.LABEL)
    return block


def field_value(field: Field, state: Json) -> Any:
    """What a person put in, from one element of `view.state.values`. Not yet validated."""
    match field.kind:
        case "toggle":
            return bool(state.get("selected_options"))
        case "choice":
            chosen = cast("Json", state.get("selected_option") or {})
            return _meant(field, chosen.get("value"))
        case "choices":
            several = cast("list[Json]", state.get("selected_options") or [])
            return [_meant(field, option.get("value")) for option in several]
        case "file":
            return [file["id"] for file in cast("list[Json]", state.get("files") or [])]
        case "number":
            return state.get("value")
        case _:
            return state.get("value") or ""


def number_text(value: float) -> str:
    """As Slack takes it: every digit, no exponent."""
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _element(field: Field) -> Json | None:
    match field.kind:
        case "text" | "long_text":
            return _text(field)
        case "number":
            return _number(field)
        case "toggle":
            option = {"text": plain_text("On"), "value": _ON}
            return {"type": "checkboxes", "options": [option]} | (
                {"initial_options": [option]} if field.value else {}
            )
        case "choice":
            return _select("static_select", field, [field.value])
        case "choices":
            chosen = cast("list[Any]", field.value) if isinstance(field.value, list | tuple) else []
            few = len(_values(field)) <= limits.CHECKBOXES
            return _select("checkboxes" if few else "multi_static_select", field, chosen)
        case _:
            return {"type": "file_input", "max_files": max(1, min(field.max_files, limits.FILES))}


def _text(field: Field) -> Json | None:
    value = "" if field.value is None else str(field.value)
    if utf16(value) > limits.INPUT:
        return None
    most = min(limits.INPUT, max(field.max_length or limits.INPUT, utf16(value), 1))
    element: Json = {
        "type": "plain_text_input",
        "multiline": field.kind == "long_text" or "\n" in value,
        "max_length": most,
    }
    if value:
        element["initial_value"] = value
    return element | _placeholder(field)


def _number(field: Field) -> Json | None:
    whole = field.step == 1
    element: Json = {"type": "number_input", "is_decimal_allowed": not whole}
    low, high = field.minimum, field.maximum
    if low is not None:
        element["min_value"] = number_text(math.ceil(low) if whole else low)
    if high is not None:
        element["max_value"] = number_text(math.floor(high) if whole else high)
    value = field.value
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        # What is out of bounds would be refused with the whole modal.
        fits = (low is None or value >= low) and (high is None or value <= high)
        if fits and (not whole or value == int(value)):
            element["initial_value"] = number_text(value)
    texts = (text for name, text in element.items() if name.endswith("_value"))
    return None if any(len(text) > _DIGITS for text in texts) else element | _placeholder(field)


def _select(kind: str, field: Field, chosen: list[Any]) -> Json | None:
    """More than a menu holds stand in groups, which are named by their first and last option."""
    options = [_option(option) for option in _values(field).values()]
    if not options or len(options) > limits.OPTIONS * limits.OPTION_GROUPS:
        return None
    element: Json = {"type": kind}
    if len(options) <= limits.OPTIONS:
        element["options"] = options
    else:
        element["option_groups"] = [
            _group(options[start : start + limits.OPTIONS])
            for start in range(0, len(options), limits.OPTIONS)
        ]
    wanted = {_key(value) for value in chosen if isinstance(value, str)}
    first = [option for option in options if option["value"] in wanted]
    if first and kind == "static_select":
        element["initial_option"] = first[0]
    elif first:
        element["initial_options"] = first[: limits.OPTIONS]
    return element if kind == "checkboxes" else element | _placeholder(field)


def _placeholder(field: Field) -> Json:
    text = field.placeholder.strip()
    return {"placeholder": plain(text, limits.PLACEHOLDER)} if text else {}


def _values(field: Field) -> dict[str, Option]:
    """Each value once."""
    return {option.value: option for option in field.options}


def _option(option: Option) -> Json:
    label = option.label.strip() or option.value.strip()
    return {"text": plain(label, limits.OPTION_TEXT), "value": _key(option.value)}


def _group(options: list[Json]) -> Json:
    first, last = options[0]["text"]["text"], options[-1]["text"]["text"]
    half = limits.OPTION_TEXT // 2 - 2
    return {
        "label": plain(f"{cut16(first, half)} – {cut16(last, half)}", limits.OPTION_TEXT),
        "options": options,
    }


def _key(value: str) -> str:
    """The value, or what stands for one that Slack can't carry."""
    if 0 < utf16(value) <= limits.OPTION_VALUE and not value.startswith(_DIGEST):
        return value
    return _DIGEST + hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _meant(field: Field, key: str | None) -> str | None:
    if key is None or not key.startswith(_DIGEST):
        return key
    return next((option.value for option in field.options if _key(option.value) == key), key)
