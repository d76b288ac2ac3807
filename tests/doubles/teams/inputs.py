"""Inputs of a card as a person fills them in, and what Teams makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.doubles.teams.card_types import INPUTS
from tests.doubles.teams.errors import CannotAct, Json


def inputs_of(card: Any) -> Iterator[Json]:
    if isinstance(card, list):
        for one in card:
            yield from inputs_of(one)
    elif isinstance(card, dict):
        if card.get("type") in INPUTS:
            yield card
        else:
            for key, one in card.items():
                if key != "data" and isinstance(one, dict | list):
                    yield from inputs_of(one)


def filled_in(card: Json, values: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent: everything that is shown, with `values` in place of what stood there.

    Raises `CannotAct` where Teams' client would not send it.
    """
    inputs = {one["id"]: one for one in inputs_of(card)}
    if unknown := set(values) - set(inputs):
        raise CannotAct(f"there are no inputs {sorted(unknown)}")
    sent: dict[str, Any] = {}
    for id, one in inputs.items():
        value = _sent(one, values.get(id, one.get("value")))
        if value is None or value == "":
            if one.get("isRequired") is True:
                raise CannotAct(f"{id} must be filled in")
            if value is None:
                continue
        sent[id] = value
    return sent


def _sent(one: Json, value: Any) -> Any:
    match one["type"]:
        case "Input.Toggle":
            on, off = one.get("valueOn", "true"), one.get("valueOff", "false")
            if isinstance(value, bool):
                return on if value else off
            return off if value is None else value
        case "Input.ChoiceSet":
            return _chosen(one, value)
        case "Input.Number":
            return _number(one, value)
        case _:
            return _text(one, value)


def _chosen(one: Json, value: Any) -> str | None:
    if value is None:
        return None
    many = one.get("isMultiSelect") is True
    chosen = (
        list(value) if isinstance(value, list | tuple) else [part for part in str(value).split(",") if part]
    )
    known = {choice["value"] for choice in one.get("choices", [])}
    if set(chosen) - known or (len(chosen) > 1 and not many):
        raise CannotAct(f"{one['id']}: {value!r} can't be chosen")
    return ",".join(chosen)


def _number(one: Json, value: Any) -> float | int | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CannotAct(f"{one['id']} takes numbers")
    if value < one.get("min", value) or value > one.get("max", value):
        raise CannotAct(f"{one['id']}: {value} is out of its bounds")
    return value


def _text(one: Json, value: Any) -> str | None:
    if value is None:
        return None
    text = str(value)
    if len(text) > one.get("maxLength", len(text)):
        raise CannotAct(f"{one['id']} takes {one['maxLength']} characters")
    if text and (pattern := one.get("regex")) and not re.fullmatch(pattern, text):
        raise CannotAct(f"{one['id']}: {text!r} is not of the asked form")
    if "\n" in text and one["type"] == "Input.Text" and one.get("isMultiline") is not True:
        raise CannotAct(f"{one['id']} takes one line")
    return text
