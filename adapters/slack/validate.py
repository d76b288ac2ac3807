"""Whether Slack would take a payload: for tests and for development, where a limit that is passed shall be
found at once. Slack itself answers `invalid_blocks` or `invalid_arguments`, and nothing is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, cast

from adapters.short import utf16
from adapters.slack import limits
from adapters.slack.render import cost

Json = dict[str, Any]

_VIEW_ONLY: Final = frozenset({"alert"})
_MESSAGE_ONLY: Final = frozenset({"markdown", "plan", "task_card", "context_actions"})
#: Longest text by type of the holder and its field; of the element before that of the block.
_TEXTS: Final[dict[tuple[str, str], int]] = {
    ("section", "text"): limits.SECTION_TEXT,
    ("header", "text"): limits.HEADER_TEXT,
    ("button", "text"): limits.BUTTON_TEXT,
    ("input", "label"): limits.LABEL,
    ("input", "hint"): limits.LABEL,
    ("option", "text"): limits.OPTION_TEXT,
    ("option", "description"): limits.OPTION_TEXT,
    ("group", "label"): limits.OPTION_TEXT,
    ("confirm", "title"): limits.CONFIRM_TITLE,
    ("confirm", "text"): limits.CONFIRM_TEXT,
    ("confirm", "confirm"): limits.CONFIRM_BUTTON,
    ("confirm", "deny"): limits.CONFIRM_BUTTON,
    ("positive_button", "text"): limits.BUTTON_TEXT,
    ("negative_button", "text"): limits.BUTTON_TEXT,
    ("view", "title"): limits.VIEW_TITLE,
    ("view", "submit"): limits.VIEW_TITLE,
    ("view", "close"): limits.VIEW_TITLE,
}
_STRINGS: Final[dict[str, int]] = {
    "action_id": limits.IDENTIFIER,
    "block_id": limits.IDENTIFIER,
    "callback_id": limits.IDENTIFIER,
    "external_id": limits.IDENTIFIER,
    "private_metadata": limits.PRIVATE_METADATA,
    "url": limits.URL,
    "initial_value": limits.INPUT,
    "accessibility_label": limits.BUTTON_LABEL,
}
_OPTIONS: Final[dict[str, int]] = {
    "static_select": limits.OPTIONS,
    "multi_static_select": limits.OPTIONS,
    "checkboxes": limits.CHECKBOXES,
    "radio_buttons": limits.CHECKBOXES,
    "overflow": limits.OVERFLOW,
}
_ELEMENTS: Final[dict[str, int]] = {
    "context": limits.CONTEXT_ELEMENTS,
    "actions": limits.ACTIONS,
    "context_actions": limits.CONTEXT_ACTIONS,
}


class PayloadTooLarge(ValueError):
    """Slack would refuse it; `path` is the place, such as `/blocks/3/label`."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        super().__init__(f"{path}: {why}")


def check_message(payload: Json) -> None:
    """The arguments of a message: `text`, `blocks`. Raises `PayloadTooLarge`."""
    text = payload.get("text")
    blocks = cast("list[Json]", payload.get("blocks") or [])
    if not text and not blocks:
        raise PayloadTooLarge("/text", "there is nothing to show")
    _at_most("/text", text or "", limits.TEXT)
    _count("/blocks", blocks, limits.BLOCKS)
    _blocks(blocks, _VIEW_ONLY)
    size = sum(map(cost, blocks))
    if size > limits.MESSAGE:
        raise PayloadTooLarge("/blocks", f"{size} in all, at most {limits.MESSAGE}")
    if sum(utf16(block["text"]) for block in blocks if block["type"] == "markdown") > limits.MARKDOWN:
        raise PayloadTooLarge("/blocks", f"at most {limits.MARKDOWN} of markdown")


def check_view(view: Json) -> None:
    """A modal or Home tab. Raises `PayloadTooLarge`."""
    blocks = cast("list[Json]", view.get("blocks") or [])
    _count("/blocks", blocks, limits.VIEW_BLOCKS)
    _holder({**view, "type": "view", "blocks": None}, "")
    _blocks(blocks, _MESSAGE_ONLY)
    has_input = any(block["type"] == "input" for block in blocks)
    if has_input and view.get("type") == "modal" and not view.get("submit"):
        raise PayloadTooLarge("/submit", "needed with inputs")
    if utf16(json.dumps(view, ensure_ascii=False)) > limits.VIEW:
        raise PayloadTooLarge("/", f"at most {limits.VIEW} in all")


def _blocks(blocks: list[Json], foreign: frozenset[str]) -> None:
    seen: set[str] = set()
    for number, block in enumerate(blocks):
        path = f"/blocks/{number}"
        if block["type"] in foreign:
            raise PayloadTooLarge(path, f"{block['type']} can't stand there")
        for at, holder in _holders(block, path):
            _holder(holder, at)
        name = block.get("block_id")
        if name in seen:
            raise PayloadTooLarge(f"{path}/block_id", "used twice")
        seen |= {name} if name else set()
        ids = [item["action_id"] for item in block.get("elements") or () if "action_id" in item]
        if len(ids) != len(set(ids)):
            raise PayloadTooLarge(f"{path}/elements", "an action_id is used twice")


def _holders(value: Any, path: str) -> Iterator[tuple[str, Json]]:
    """All objects within a block; those that Slack gives no type are named by their place."""
    if isinstance(value, list):
        for number, item in enumerate(cast("list[Any]", value)):
            yield from _holders(item, f"{path}/{number}")
    elif isinstance(value, dict):
        holder = cast("Json", value)
        name = path.split("/")[-2 if path.rpartition("/")[2].isdecimal() else -1]
        kind = {"options": "option", "initial_options": "option", "initial_option": "option",
                "option_groups": "group"}.get(name, name)  # fmt: skip
        yield path, {**holder, "type": holder.get("type", kind)}
        for key, item in holder.items():
            yield from _holders(item, f"{path}/{key}")


def _holder(holder: Json, path: str) -> None:
    kind = str(holder["type"])
    for key, value in holder.items():
        if isinstance(value, dict) and (kind, key) in _TEXTS:
            text = cast("Json", value)
            _needed(f"{path}/{key}", text.get("text"))
            _at_most(f"{path}/{key}", text["text"], _TEXTS[kind, key])
        if isinstance(value, str) and key in _STRINGS:
            _at_most(f"{path}/{key}", value, _STRINGS[key])
    if isinstance(value := holder.get("value"), str):
        _at_most(f"{path}/value", value, limits.OPTION_VALUE if kind == "option" else limits.BUTTON_VALUE)
    if kind == "option":
        _needed(f"{path}/value", value)
    if isinstance(placeholder := holder.get("placeholder"), dict):
        _at_most(f"{path}/placeholder", cast("Json", placeholder)["text"], limits.PLACEHOLDER)
    if kind in _OPTIONS:
        _choice(holder, path, _OPTIONS[kind])
    if kind in _ELEMENTS:
        _count(f"{path}/elements", holder["elements"], _ELEMENTS[kind], least=1)
    if kind == "context":
        for item in holder["elements"]:
            _needed(path, item.get("text"))
            _at_most(path, item["text"], limits.CONTEXT_TEXT)
    if kind == "section" and (fields := holder.get("fields")) is not None:
        _count(f"{path}/fields", fields, limits.FIELDS, least=1)
        for number, field in enumerate(fields):
            _at_most(f"{path}/fields/{number}", field["text"], limits.FIELD_TEXT)
    if kind == "table":
        _count(f"{path}/rows", holder["rows"], limits.TABLE_ROWS, least=1)
        for number, row in enumerate(holder["rows"]):
            _count(f"{path}/rows/{number}", row, limits.TABLE_COLUMNS, least=1)
    if kind == "text" and "text" in holder:
        _needed(path, holder["text"])
    if kind == "file_input" and not 1 <= holder.get("max_files", limits.FILES) <= limits.FILES:
        raise PayloadTooLarge(f"{path}/max_files", f"1 to {limits.FILES}")


def _choice(holder: Json, path: str, most: int) -> None:
    groups = cast("list[Json] | None", holder.get("option_groups"))
    if groups is not None:
        _count(f"{path}/option_groups", groups, limits.OPTION_GROUPS, least=1)
    lists = [group["options"] for group in groups] if groups is not None else [holder.get("options") or []]
    for options in lists:
        _count(f"{path}/options", options, most, least=1)
    values = {option["value"] for options in lists for option in options}
    first = (
        holder.get("initial_options") or [holder["initial_option"]] if "initial_option" in holder else []
    )
    if any(option["value"] not in values for option in first):
        raise PayloadTooLarge(f"{path}/initial_option", "not among the options")


def _needed(path: str, text: Any) -> None:
    if not text:
        raise PayloadTooLarge(path, "there is no text")


def _at_most(path: str, text: str, most: int) -> None:
    if utf16(text) > most:
        raise PayloadTooLarge(path, f"{utf16(text)} characters, at most {most}")


def _count(path: str, items: list[Any], most: int, *, least: int = 0) -> None:
    if not least <= len(items) <= most:
        raise PayloadTooLarge(path, f"{len(items)} of them, {least} to {most}")
