"""What Slack refuses in blocks, with its codes and the place as a JSON pointer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Literal, cast

from tests.doubles.slack import elements, limits
from tests.doubles.slack.checks import (
    as_list,
    as_object,
    known,
    one_of,
    optional,
    optional_text,
    required,
    string,
    text,
    url,
    whole,
)
from tests.doubles.slack.elements import element
from tests.doubles.slack.errors import Invalid, Json, SlackError

Surface = Literal["message", "modal", "home"]

_EVERYWHERE: Final = frozenset(
    {"actions", "context", "divider", "header", "image", "input", "rich_text", "section", "video"}
)
SURFACES: Final[dict[Surface, frozenset[str]]] = {
    "message": _EVERYWHERE | {"context_actions", "file", "markdown", "plan", "table", "task_card"},
    "modal": _EVERYWHERE | {"alert"},
    "home": _EVERYWHERE | {"table"},
}
_COMMON: Final = ("type", "block_id")


def parsed(value: Any, code: str = "invalid_blocks_format") -> Any:
    """Form bodies carry lists and objects as JSON."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            raise SlackError(code) from None
    return value


def check_message(value: Any) -> list[Json]:
    """The blocks of a message. Raises `SlackError`."""
    found = parsed(value)
    if found is None or found == "":
        return []
    if not isinstance(found, list):
        raise SlackError("invalid_blocks_format")
    blocks = _all(cast("list[Any]", found), "message", limits.MESSAGE_BLOCKS, "/blocks")
    if sum(len(json.dumps(block, ensure_ascii=False)) for block in blocks) > limits.MESSAGE_BLOCKS_LENGTH:
        raise SlackError("msg_blocks_too_long")
    return blocks


def check_view_blocks(value: Any, surface: Surface) -> list[Json]:
    try:
        items = as_list(value, "/view/blocks", least=0, most=10_000)
    except Invalid as error:
        raise SlackError("invalid_arguments", messages=[str(error)]) from error
    return _all(items, surface, limits.VIEW_BLOCKS, "/view/blocks", code="invalid_arguments")


def _all(
    items: list[Any], surface: Surface, most: int, where: str, *, code: str = "invalid_blocks"
) -> list[Json]:
    try:
        as_list(items, where, most=most)
        blocks = [block(item, f"{where}/{number}", surface) for number, item in enumerate(items)]
        _whole_payload(blocks, where)
    except Invalid as error:
        raise SlackError(code, messages=[str(error)]) from error
    return blocks


def _whole_payload(blocks: list[Json], where: str) -> None:
    ids = [block["block_id"] for block in blocks if block.get("block_id")]
    if len(ids) != len(set(ids)):
        raise Invalid("block_id already exists", where)
    for number, found in enumerate(blocks):
        _unique_actions(found, f"{where}/{number}")
    if sum(len(found["text"]) for found in blocks if found["type"] == "markdown") > limits.MARKDOWN:
        raise Invalid(f"markdown text must be less than {limits.MARKDOWN + 1} characters in all", where)
    if sum(found["type"] == "table" for found in blocks) > 1:
        raise Invalid("only_one_table_allowed", where)


def _unique_actions(found: Json, where: str) -> None:
    inside = [*found.get("elements", ()), found.get("accessory"), found.get("element")]
    ids = [item["action_id"] for item in inside if isinstance(item, dict) and item.get("action_id")]
    if len(ids) != len(set(ids)):
        raise Invalid("action_id already exists", f"{where}/elements")


def block(value: Any, where: str, surface: Surface) -> Json:
    """One block. Raises `Invalid`."""
    found = as_object(value, where)
    kind = found.get("type")
    if kind not in SURFACES[surface]:
        raise Invalid(f"unsupported type: {kind}", where)
    optional(found, "block_id", where, most=limits.IDENTIFIER, least=1)
    _CHECKS[str(kind)](found, where)
    if kind == "input" and found["element"]["type"] == "file_input" and surface != "modal":
        raise Invalid("unsupported type: file_input", f"{where}/element")
    return found


def _section(found: Json, where: str) -> None:
    known(found, where, *_COMMON, "text", "fields", "accessory", "expand")
    if found.get("text") is None and not found.get("fields"):
        raise Invalid("must provide text or fields", where)
    if found.get("text") is not None:
        text(found["text"], f"{where}/text", most=limits.TEXT)
    if found.get("fields") is not None:
        at = f"{where}/fields"
        for number, item in enumerate(as_list(found["fields"], at, least=1, most=limits.FIELDS)):
            text(item, f"{at}/{number}", most=limits.FIELD)
    if found.get("accessory") is not None:
        element(found["accessory"], f"{where}/accessory", elements.ACCESSORY)


def _header(found: Json, where: str) -> None:
    known(found, where, *_COMMON, "text", "level")
    text(required(found, "text", where), f"{where}/text", most=limits.HEADER, plain=True)


def _context(found: Json, where: str) -> None:
    known(found, where, *_COMMON, "elements")
    at = f"{where}/elements"
    for number, item in enumerate(as_list(found.get("elements"), at, least=1, most=limits.CONTEXT)):
        place = f"{at}/{number}"
        if as_object(item, place).get("type") == "image":
            elements.image(item, place)
        else:
            text(item, place, most=limits.CONTEXT_TEXT)


def _elements(most: int, allowed: frozenset[str]) -> Callable[[Json, str], None]:
    def check(found: Json, where: str) -> None:
        known(found, where, *_COMMON, "elements")
        at = f"{where}/elements"
        for number, item in enumerate(as_list(found.get("elements"), at, least=1, most=most)):
            element(item, f"{at}/{number}", allowed)

    return check


def _input(found: Json, where: str) -> None:
    known(found, where, *_COMMON, "label", "element", "hint", "optional", "dispatch_action")
    text(required(found, "label", where), f"{where}/label", most=limits.LABEL, plain=True)
    element(required(found, "element", where), f"{where}/element", elements.INPUT)
    optional_text(found, "hint", where, most=limits.LABEL)


def _markdown(found: Json, where: str) -> None:
    known(found, where, *_COMMON, "text")
    string(required(found, "text", where), f"{where}/text", most=limits.MARKDOWN, least=1)


def _divider(found: Json, where: str) -> None:
    known(found, where, *_COMMON)


def _image(found: Json, where: str) -> None:
    elements.image(found, where)
    optional_text(found, "title", where, most=limits.IMAGE_ALT)


def _video(found: Json, where: str) -> None:
    for name in ("video_url", "thumbnail_url"):
        url(found, name, where, needed=True)
    text(required(found, "title", where), f"{where}/title", most=200, plain=True)
    string(required(found, "alt_text", where), f"{where}/alt_text", most=limits.IMAGE_ALT)


def _file(found: Json, where: str) -> None:
    required(found, "external_id", where)
    one_of(found, "source", where, ("remote",), needed=True)


def _alert(found: Json, where: str) -> None:
    text(required(found, "text", where), f"{where}/text", most=limits.ALERT)
    one_of(found, "level", where, ("default", "info", "warning", "error", "success"))


def _table(found: Json, where: str) -> None:
    known(found, where, *_COMMON, "rows", "column_settings")
    rows = as_list(found.get("rows"), f"{where}/rows", least=1, most=limits.TABLE_ROWS)
    for number, row in enumerate(rows):
        at = f"{where}/rows/{number}"
        for column, cell in enumerate(as_list(row, at, least=1, most=limits.TABLE_COLUMNS)):
            place = f"{at}/{column}"
            inside = as_object(cell, place)
            one_of(inside, "type", place, ("raw_text", "raw_number", "rich_text"), needed=True)
            if inside["type"] == "raw_text":
                string(required(inside, "text", place), f"{place}/text", most=limits.TEXT, least=1)
            elif inside["type"] == "rich_text":
                _rich_text(inside, place)
    settings = found.get("column_settings")
    if settings is not None:
        for number, item in enumerate(
            as_list(settings, f"{where}/column_settings", most=limits.TABLE_COLUMNS)
        ):
            if item is not None:
                at = f"{where}/column_settings/{number}"
                one_of(as_object(item, at), "align", at, ("left", "center", "right"))


_RICH: Final = ("rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote")
_INLINE: Final = (
    "text", "link", "emoji", "user", "usergroup", "channel", "broadcast", "date", "color", "team",
)  # fmt: skip


def _rich_text(found: Json, where: str) -> None:
    items = as_list(found.get("elements"), f"{where}/elements", least=1, most=1000)
    for number, item in enumerate(items):
        at = f"{where}/elements/{number}"
        inside = as_object(item, at)
        one_of(inside, "type", at, _RICH, needed=True)
        if inside["type"] == "rich_text_list":
            one_of(inside, "style", at, ("bullet", "ordered"), needed=True)
            whole(inside, "indent", at, 0, 8)
            for entry, section in enumerate(as_list(inside.get("elements"), at, most=1000)):
                _inline(as_object(section, at), f"{at}/elements/{entry}")
        else:
            _inline(inside, at)


def _inline(found: Json, where: str) -> None:
    for number, item in enumerate(as_list(found.get("elements"), f"{where}/elements", most=1000)):
        at = f"{where}/elements/{number}"
        inside = as_object(item, at)
        one_of(inside, "type", at, _INLINE, needed=True)
        if inside["type"] == "text":
            string(required(inside, "text", at), f"{at}/text", most=40_000, least=1)
        elif inside["type"] == "link":
            link = string(required(inside, "url", at), f"{at}/url", most=limits.URL, least=1)
            if ":" not in link:
                raise Invalid("must be a valid URL", f"{at}/url")
        if inside.get("style") is not None:
            known(as_object(inside["style"], at), at, "bold", "italic", "strike", "code", "underline")


def task(found: Json, where: str, *, alone: bool) -> None:
    statuses = ("in_progress", "complete", "error") if alone else _STATUSES
    known(found, where, *_COMMON, "task_id", "title", "status", "details", "output", "sources")
    string(required(found, "task_id", where), f"{where}/task_id", most=limits.IDENTIFIER, least=1)
    string(required(found, "title", where), f"{where}/title", most=limits.TASK_TITLE, least=1)
    one_of(found, "status", where, statuses, needed=alone)
    for name in ("details", "output"):
        if found.get(name) is not None:
            _rich_text(as_object(found[name], f"{where}/{name}"), f"{where}/{name}")
    sources(found, where)


_STATUSES: Final = ("pending", "in_progress", "complete", "error")


def sources(found: Json, where: str) -> None:
    """Of task cards, and of `task_update` chunks."""
    for number, item in enumerate(as_list(found.get("sources") or [], f"{where}/sources", most=100)):
        at = f"{where}/sources/{number}"
        one_of(as_object(item, at), "type", at, ("url",), needed=True)
        url(item, "url", at, needed=True)
        string(required(item, "text", at), f"{at}/text", most=limits.TEXT, least=1)


def _plan(found: Json, where: str) -> None:
    known(found, where, *_COMMON, "title", "tasks")
    string(required(found, "title", where), f"{where}/title", most=limits.TASK_TITLE, least=1)
    at = f"{where}/tasks"
    for number, item in enumerate(as_list(found.get("tasks") or [], at, most=limits.PLAN_TASKS)):
        task(as_object(item, f"{at}/{number}"), f"{at}/{number}", alone=False)


_CHECKS: Final[dict[str, Callable[[Json, str], None]]] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _elements(limits.ACTIONS, elements.ACTIONS),
    "context_actions": _elements(limits.CONTEXT_ACTIONS, elements.CONTEXT_ACTIONS),
    "input": _input,
    "markdown": _markdown,
    "divider": _divider,
    "image": _image,
    "video": _video,
    "file": _file,
    "alert": _alert,
    "table": _table,
    "rich_text": _rich_text,
    "task_card": lambda found, where: task(found, where, alone=True),
    "plan": _plan,
}
