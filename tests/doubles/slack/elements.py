"""What Slack refuses in the elements of blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.doubles.slack import limits
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
from tests.doubles.slack.errors import Invalid, Json

_SELECTS: Final = frozenset(
    {"static_select", "external_select", "users_select", "conversations_select", "channels_select"}
)
_MULTI: Final = frozenset(f"multi_{name}" for name in _SELECTS)
_PICKERS: Final = frozenset({"datepicker", "timepicker", "datetimepicker"})
_FIELDS: Final = frozenset(
    {"plain_text_input", "email_text_input", "url_text_input", "number_input", "rich_text_input"}
)
_GROUPS: Final = frozenset({"checkboxes", "radio_buttons"})

#: Which elements may stand where.
ACCESSORY: Final = (
    _SELECTS | _MULTI | _PICKERS | _GROUPS | {"button", "overflow", "image", "workflow_button"}
)
ACTIONS: Final = (ACCESSORY - {"image"}) | {"rich_text_input"}
INPUT: Final = _SELECTS | _MULTI | _PICKERS | _FIELDS | _GROUPS | {"file_input"}
CONTEXT_ACTIONS: Final = frozenset({"feedback_buttons", "icon_button"})


def element(value: object, where: str, allowed: frozenset[str]) -> Json:
    found = as_object(value, where)
    kind = found.get("type")
    if kind not in allowed:
        raise Invalid(f"unsupported type: {kind}", where)
    optional(found, "action_id", where, most=limits.IDENTIFIER, least=1)
    if found.get("confirm") is not None:
        _confirm(as_object(found["confirm"], f"{where}/confirm"), f"{where}/confirm")
    if kind in _FIELDS or kind in _SELECTS or kind in _MULTI or kind in _PICKERS:
        optional_text(found, "placeholder", where, most=limits.PLACEHOLDER)
    _CHECKS.get(str(kind), _nothing)(found, where)
    return found


def _nothing(found: Json, where: str) -> None:
    del found, where


def _confirm(found: Json, where: str) -> None:
    known(found, where, "title", "text", "confirm", "deny", "style")
    text(required(found, "title", where), f"{where}/title", most=limits.CONFIRM_TITLE, plain=True)
    text(required(found, "text", where), f"{where}/text", most=limits.CONFIRM_TEXT)
    for name in ("confirm", "deny"):
        text(required(found, name, where), f"{where}/{name}", most=limits.CONFIRM_BUTTON, plain=True)
    one_of(found, "style", where, ("primary", "danger"))


def _button(found: Json, where: str) -> None:
    known(
        found, where, "type", "text", "action_id", "url", "value", "style", "confirm", "accessibility_label"
    )
    text(required(found, "text", where), f"{where}/text", most=limits.BUTTON_TEXT, plain=True)
    optional(found, "value", where, most=limits.BUTTON_VALUE)
    optional(found, "accessibility_label", where, most=limits.ACCESSIBILITY_LABEL)
    one_of(found, "style", where, ("primary", "danger"))
    url(found, "url", where)


def _feedback(found: Json, where: str) -> None:
    known(found, where, "type", "action_id", "positive_button", "negative_button")
    for name in ("positive_button", "negative_button"):
        at = f"{where}/{name}"
        button = as_object(required(found, name, where), at)
        known(button, at, "text", "value", "accessibility_label")
        text(required(button, "text", at), f"{at}/text", most=limits.BUTTON_TEXT, plain=True)
        string(required(button, "value", at), f"{at}/value", most=limits.BUTTON_VALUE)
        optional(button, "accessibility_label", at, most=limits.ACCESSIBILITY_LABEL)


def _icon(found: Json, where: str) -> None:
    one_of(found, "icon", where, ("trash",), needed=True)
    text(required(found, "text", where), f"{where}/text", most=limits.BUTTON_TEXT, plain=True)
    optional(found, "value", where, most=limits.BUTTON_VALUE)
    optional(found, "accessibility_label", where, most=limits.ACCESSIBILITY_LABEL)


def _option(value: object, where: str, *, markup: bool, links: bool = False) -> str:
    found = as_object(value, where)
    known(found, where, "text", "value", "description", *(("url",) if links else ()))
    text(required(found, "text", where), f"{where}/text", most=limits.OPTION_TEXT, plain=not markup)
    optional_text(found, "description", where, most=limits.OPTION_TEXT, plain=not markup)
    if links:
        url(found, "url", where)
    return string(required(found, "value", where), f"{where}/value", most=limits.OPTION_VALUE, least=1)


def options(
    found: Json, where: str, *, most: int, least: int = 1, markup: bool = False, links: bool = False
) -> list[str]:
    items = as_list(required(found, "options", where), f"{where}/options", least=least, most=most)
    return [
        _option(item, f"{where}/options/{number}", markup=markup, links=links)
        for number, item in enumerate(items)
    ]


def _initial(found: Json, where: str, values: list[str]) -> None:
    """What is chosen at first has to be one of the options."""
    several = found.get("initial_options")
    chosen = [found["initial_option"]] if found.get("initial_option") is not None else several
    if chosen is None:
        return
    for item in as_list(chosen, where, least=1, most=limits.OPTIONS):
        if as_object(item, where).get("value") not in values:
            raise Invalid("initial option must be one of the options", where)


def _select(found: Json, where: str) -> None:
    if found.get("options") is not None and found.get("option_groups") is not None:
        raise Invalid("only one of options and option_groups allowed", where)
    if found.get("option_groups") is None:
        values = options(found, where, most=limits.OPTIONS)
    else:
        values = []
        groups = as_list(
            found["option_groups"], f"{where}/option_groups", least=1, most=limits.OPTION_GROUPS
        )
        for number, group in enumerate(groups):
            at = f"{where}/option_groups/{number}"
            inside = as_object(group, at)
            text(required(inside, "label", at), f"{at}/label", most=limits.OPTION_TEXT, plain=True)
            values += options(inside, at, most=limits.OPTIONS)
    _initial(found, where, values)
    whole(found, "max_selected_items", where, 1, limits.OPTIONS)


def _overflow(found: Json, where: str) -> None:
    known(found, where, "type", "action_id", "options", "confirm")
    options(found, where, most=limits.OVERFLOW, links=True)


def _group(found: Json, where: str) -> None:
    _initial(found, where, options(found, where, most=limits.CHOICES, markup=True))


def _plain_input(found: Json, where: str) -> None:
    known(
        found, where, "type", "action_id", "placeholder", "initial_value", "multiline", "min_length",
        "max_length", "dispatch_action_config", "focus_on_load",
    )  # fmt: skip
    whole(found, "min_length", where, 0, limits.INPUT_VALUE)
    whole(found, "max_length", where, 1, limits.INPUT_VALUE)
    most = found.get("max_length") or limits.INPUT_VALUE
    if (found.get("min_length") or 0) > most:
        raise Invalid("min_length must not be greater than max_length", where)
    optional(found, "initial_value", where, most=most)


def _number(found: Json, where: str) -> None:
    if not isinstance(required(found, "is_decimal_allowed", where), bool):
        raise Invalid("must be a boolean", f"{where}/is_decimal_allowed")
    for name in ("initial_value", "min_value", "max_value"):
        value = found.get(name)
        if value is None:
            continue
        try:
            number = float(string(value, f"{where}/{name}", most=100))
        except ValueError:
            raise Invalid("must be a number", f"{where}/{name}") from None
        if not found["is_decimal_allowed"] and number != int(number):
            raise Invalid("must be a whole number", f"{where}/{name}")


def _file_input(found: Json, where: str) -> None:
    known(found, where, "type", "action_id", "filetypes", "max_files")
    whole(found, "max_files", where, 1, limits.MAX_FILES)
    if found.get("filetypes") is not None:
        for number, kind in enumerate(as_list(found["filetypes"], f"{where}/filetypes", most=1000)):
            string(kind, f"{where}/filetypes/{number}", most=50, least=1)


def image(found: Json, where: str) -> None:
    """Of blocks and of elements alike."""
    if (found.get("image_url") is None) == (found.get("slack_file") is None):
        raise Invalid("must provide either image_url or slack_file", where)
    url(found, "image_url", where)
    string(required(found, "alt_text", where), f"{where}/alt_text", most=limits.IMAGE_ALT)


_CHECKS: Final[dict[str, Callable[[Json, str], None]]] = {
    "button": _button,
    "feedback_buttons": _feedback,
    "icon_button": _icon,
    "overflow": _overflow,
    "static_select": _select,
    "multi_static_select": _select,
    "checkboxes": _group,
    "radio_buttons": _group,
    "plain_text_input": _plain_input,
    "number_input": _number,
    "file_input": _file_input,
    "image": image,
}
