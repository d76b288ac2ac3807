"""What a Teams client does with a card: it takes only what the schema knows, and sends what was typed."""

from __future__ import annotations

from typing import Any

from tests.doubles.teams.check_card import check_card
from tests.doubles.teams.limits import DIALOG_CARD_BYTES

Json = dict[str, Any]


def walk(card: Json) -> list[Json]:
    """All elements of a card, in order; asserts that Teams takes every one."""
    check_card(card, most=DIALOG_CARD_BYTES)
    return [element for block in card["body"] for element in _walk(block)]


def _walk(element: Json) -> list[Json]:
    found = [element]
    for name in ("inlines", "actions", "items", "cells", "rows"):
        for child in element.get(name, []):
            found += _walk(child)
    if element["type"] == "ColumnSet":
        found += [inner for column in element["columns"] for inner in _walk(column)]
    return found


def inputs(card: Json) -> list[Json]:
    return [element for element in walk(card) if element["type"].startswith("Input.")]


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
