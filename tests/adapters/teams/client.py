"""What a Teams client does with a card: it takes only what the schema knows, and sends what was typed."""

from __future__ import annotations

from typing import Any

from adapters.teams import limits
from adapters.teams.card import size

Json = dict[str, Any]

#: Elements and actions of Adaptive Cards 1.5 that the adapter writes, with the properties that they have.
ELEMENTS: dict[str, set[str]] = {
    "TextBlock": {"text", "wrap", "weight", "size", "color", "isSubtle"},
    "RichTextBlock": {"inlines"},
    "TextRun": {"text", "weight", "size", "color", "isSubtle", "selectAction"},
    "ActionSet": {"actions"},
    "ColumnSet": {"columns"},
    "Column": {"width", "items", "verticalContentAlignment"},
    "Table": {"columns", "rows"},
    "TableRow": {"cells"},
    "TableCell": {"items"},
    "Input.Text": {"id", "label", "isMultiline", "maxLength", "value", "placeholder", "isRequired",
                   "errorMessage"},
    "Input.Number": {"id", "label", "min", "max", "value", "placeholder", "isRequired", "errorMessage"},
    "Input.Toggle": {"id", "title", "value", "valueOn", "valueOff"},
    "Input.ChoiceSet": {"id", "label", "isMultiSelect", "style", "choices", "value", "placeholder",
                        "isRequired", "errorMessage"},
    "Action.Submit": {"title", "data"},
    "Action.OpenUrl": {"title", "url"},
}  # fmt: skip


def walk(card: Json) -> list[Json]:
    """All elements of a card, in order; asserts that Teams would show every one."""
    assert card["type"] == "AdaptiveCard"
    assert card["version"] == "1.5"
    assert size(card) <= limits.CARD_BYTES
    assert card["body"]
    return [element for block in card["body"] for element in _walk(block)]


def _walk(element: Json) -> list[Json]:
    kind = element["type"]
    assert set(element) - {"type"} <= ELEMENTS[kind], element
    found = [element]
    for name in ("inlines", "actions", "items", "cells", "rows"):
        for child in element.get(name, []):
            found += _walk(child)
    if kind == "ColumnSet":
        found += [inner for column in element["columns"] for inner in _walk(column)]
    if "selectAction" in element:
        found += _walk(element["selectAction"])
    if kind == "ActionSet":
        assert 1 <= len(element["actions"]) <= limits.ACTIONS
    if kind.startswith("Action."):
        assert 1 <= len(element["title"]) <= limits.BUTTON
        assert element.get("url", "https://").startswith("https://")
    return found


def inputs(card: Json) -> list[Json]:
    found = [element for element in walk(card) if element["type"].startswith("Input.")]
    assert len({element["id"] for element in found}) == len(found)
    return found


def buttons(card: Json) -> list[Json]:
    return [element for element in walk(card) if element["type"] == "Action.Submit"]


def button(card: Json, title: str) -> Json:
    """The data of the button of that title."""
    (found,) = [one["data"] for one in buttons(card) if one["title"] == title]
    return found


def texts(card: Json) -> list[str]:
    """Line by line."""
    return [
        "".join(run["text"] for run in element["inlines"])
        for element in walk(card)
        if element["type"] == "RichTextBlock"
    ]


def sent(card: Json, title: str, *, empty: bool = True, **filled: Any) -> Json:
    """What the client sends when that button is pressed, as it stands but for what was `filled` in.

    Args:
        empty: whether this client sends what is empty, or leaves it out.
    """
    values = {element["id"]: element.get("value", "") for element in inputs(card)}
    values |= {f"field.{name}": value for name, value in filled.items()}
    values = {name: str(value) for name, value in values.items() if empty or value != ""}
    data = {name: value for name, value in button(card, title).items() if name != "msteams"}
    return {**values, **data}
