"""Elements that a person clicks or fills in, and what Slack says of their values."""

from __future__ import annotations

from typing import Any

from tests.doubles.slack.errors import Json
from tests.doubles.slack.payloads import Payloads
from tests.doubles.slack.things import File


class CannotAct(AssertionError):
    """What a person can't do in Slack: click what is not there, send a form that lacks something."""


def state(payloads: Payloads, files: dict[str, File], element: Json, value: Any) -> Json:
    """What Slack says about an element's value, in actions and in `view.state`."""
    kind = element["type"]
    match kind:
        case "button" | "icon_button":
            said = element.get("value", "")
            return {"type": kind, "value": said} if said else {"type": kind}
        case "feedback_buttons":
            return {"type": kind, "value": element[f"{value}_button"]["value"]}
        case "overflow" | "static_select" | "radio_buttons":
            return {"type": kind, "selected_option": None if value is None else _option(element, value)}
        case "checkboxes" | "multi_static_select":
            return {"type": kind, "selected_options": [_option(element, one) for one in value or []]}
        case "file_input":
            chosen = [payloads.file(files[id]) for id in value or []]
            if len(chosen) > element.get("max_files", 10):
                raise CannotAct("too many files")
            return {"type": kind, "files": chosen}
        case "datepicker" | "timepicker":
            return {"type": kind, f"selected_{kind.removesuffix('picker')}": value}
        case _ if kind.startswith("multi_"):
            return {
                "type": kind,
                f"selected_{kind.removeprefix('multi_').removesuffix('_select')}": value or [],
            }
        case _ if kind.endswith("_select"):
            return {"type": kind, f"selected_{kind.removesuffix('s_select')}": value}
        case _:
            most = element.get("max_length", 3000)
            if isinstance(value, str) and not element.get("min_length", 0) <= len(value) <= most:
                raise CannotAct(f"the text has to be at most {most} characters long")
            return {"type": kind, "value": value or None}


def _options(element: Json) -> list[Json]:
    groups = [option for group in element.get("option_groups", []) for option in group["options"]]
    return [*element.get("options", []), *groups]


def _option(element: Json, value: Any) -> Json:
    for option in _options(element):
        if option["value"] == value:
            return option
    raise CannotAct(f"there is no option {value!r}")


def initial(element: Json) -> Any:
    if option := element.get("initial_option"):
        return option["value"]
    if several := element.get("initial_options"):
        return [option["value"] for option in several]
    return next((found for name, found in element.items() if name.startswith("initial_")), None)


def empty(state: Json) -> bool:
    return not any(found for name, found in state.items() if name != "type")


def find(blocks: list[Json], action_id: str, value: Any) -> tuple[Json, Json]:
    """The element with that action_id; of several (in different blocks), the one that has the value."""
    found: list[tuple[Json, Json]] = []
    for block in blocks:
        inside = [*block.get("elements", []), block.get("accessory"), block.get("element")]
        found += [
            (block, item)
            for item in inside
            if isinstance(item, dict) and item.get("action_id") == action_id
        ]
    for block, item in found:
        if (
            value is None
            or value == item.get("value")
            or any(value == one["value"] for one in _options(item))
        ):
            return block, item
    if found:
        return found[0]
    raise CannotAct(f"there is nothing to click with action_id {action_id!r}")
