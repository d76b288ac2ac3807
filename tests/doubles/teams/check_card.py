"""Adaptive Cards as Teams takes them: version 1.5, known elements with their properties, ids of inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from tests.doubles.teams import limits
from tests.doubles.teams.card_types import ACTIONS, COMMON, ELEMENTS, INPUTS, PARTS, Kind
from tests.doubles.teams.errors import Json, Refusal, bad_request

CARD_FIELDS = frozenset({
    "type", "$schema", "version", "body", "actions", "selectAction", "fallbackText", "speak", "lang",
    "msteams", "minHeight", "backgroundImage", "rtl", "verticalContentAlignment", "metadata", "refresh",
})  # fmt: skip


def check_card(card: Any, *, most: int = limits.MESSAGE_BYTES) -> None:
    """Raises the refusal. `most` bytes of UTF-8 as JSON."""
    _Check(card).card(most)


class _Check:
    def __init__(self, card: Any) -> None:
        self._card = card
        self._ids: set[str] = set()

    def card(self, most: int) -> None:
        card = self._object(self._card, "card")
        self._nested(card, "card", outer=True)
        if len(json.dumps(card, ensure_ascii=False).encode("utf-8", "surrogatepass")) > most:
            raise Refusal(413, "MessageSizeTooBig", "The card is too large.")

    def _nested(self, card: Json, where: str, *, outer: bool = False) -> None:
        if card.get("type") != "AdaptiveCard":
            raise self._wrong(where, "type is AdaptiveCard")
        if outer and card.get("version") not in limits.ADAPTIVE_CARD_VERSIONS:
            raise self._wrong(where, f"version {card.get('version')!r} is not supported")
        if unknown := set(card) - CARD_FIELDS:
            raise self._wrong(where, f"unknown properties {sorted(unknown)}")
        body, actions = self._list(card, "body", where), self._list(card, "actions", where)
        if not body and not actions:
            raise self._wrong(where, "there is nothing on it")
        for number, one in enumerate(body):
            self._element(one, f"{where}.body[{number}]")
        self._actions(actions, f"{where}.actions")
        if "selectAction" in card:
            self._action(card["selectAction"], f"{where}.selectAction")

    def _element(self, value: Any, where: str) -> None:
        element = self._object(value, where)
        kind = element.get("type")
        if kind not in ELEMENTS:
            raise self._wrong(where, f"unknown element {kind!r}")
        if kind in INPUTS:
            name = element.get("id")
            if not isinstance(name, str) or not name:
                raise self._wrong(where, "an input has an id")
            if element.get("isRequired") is True and not element.get("errorMessage"):
                raise self._wrong(where, "a required input has an errorMessage")
        self._id(element, where)
        self._properties(element, ELEMENTS[kind], where)
        if kind == "Table":
            self._table(element, where)
        if kind == "Input.ChoiceSet":
            self._choices(element, where)

    def _part(self, value: Any, name: str, where: str) -> None:
        part = self._object(value, where)
        if part.get("type", name) != name:
            raise self._wrong(where, f"type is {name}")
        self._id(part, where)
        self._properties(part, PARTS[name], where)

    def _actions(self, actions: list[Any], where: str) -> None:
        primary = [one for one in actions if not isinstance(one, dict) or one.get("mode") != "secondary"]
        if len(primary) > limits.CARD_ACTIONS:
            raise self._wrong(where, f"more than {limits.CARD_ACTIONS} actions")
        for number, one in enumerate(actions):
            self._action(one, f"{where}[{number}]")

    def _action(self, value: Any, where: str) -> None:
        action = self._object(value, where)
        kind = action.get("type")
        if kind not in ACTIONS:
            raise self._wrong(where, f"unknown action {kind!r}")
        self._id(action, where)
        self._properties(action, ACTIONS[kind], where)
        title = action.get("title")
        if (
            not where.endswith("selectAction")
            and not action.get("iconUrl")
            and (not title or not title.strip())
        ):
            raise self._wrong(where, "an action has a title")
        if kind == "Action.ShowCard":
            self._nested(self._object(action["card"], where), f"{where}.card")
        if kind == "Action.Submit":
            self._submit(action, where)

    def _submit(self, action: Json, where: str) -> None:
        teams = self._object(action.get("data", {}), f"{where}.data").get("msteams")
        if teams is None:
            return
        asked = self._object(teams, f"{where}.data.msteams")
        kind = asked.get("type")
        needs = {
            "messageBack": "text",
            "imBack": "value",
            "task/fetch": None,
            "invoke": "value",
            "signin": "value",
        }
        if kind not in needs or (needs[kind] and not asked.get(cast("str", needs[kind]))):
            raise self._wrong(where, f"msteams.type {kind!r} is unknown, or lacks what it needs")

    def _properties(self, value: Json, spec: dict[str, Kind], where: str) -> None:
        for name, kind in spec.items():
            if kind.required and name not in value:
                raise self._wrong(where, f"{name} is missing")
        for name, found in value.items():
            if name == "type" or name in COMMON:
                continue
            kind = spec.get(name)
            if kind is None:
                raise self._wrong(where, f"unknown property {name!r}")
            self._property(found, kind, f"{where}.{name}")

    def _property(self, found: Any, kind: Kind, where: str) -> None:
        walks: dict[str, Callable[[Any, str], None]] = {
            "element": self._element,
            "action": self._action,
            **{name: lambda one, at, name=name: self._part(one, name, at) for name in PARTS},
        }
        if kind.holds is None:
            if not kind.takes(found):
                raise self._wrong(where, f"{kind.words}, and not {str(found)[:60]!r}")
        elif kind.many:
            if not isinstance(found, list) or (kind.some and not found):
                raise self._wrong(where, "is a list that has something")
            if kind.holds == "action":
                self._actions(found, where)
                return
            for number, one in enumerate(found):
                if kind.holds == "Run" and isinstance(one, str):
                    continue
                walks["TextRun" if kind.holds == "Run" else kind.holds](one, f"{where}[{number}]")
        else:
            walks[kind.holds](found, where)

    def _table(self, table: Json, where: str) -> None:
        widths = len(table.get("columns", []))
        for number, row in enumerate(table.get("rows", [])):
            if len(row.get("cells", [])) > widths:
                raise self._wrong(f"{where}.rows[{number}]", "more cells than columns")

    def _choices(self, element: Json, where: str) -> None:
        values = [choice.get("value") for choice in element.get("choices", [])]
        if len(set(values)) != len(values):
            raise self._wrong(where, "two choices have the same value")
        if not values and "choices.data" not in element:
            raise self._wrong(where, "there are no choices")
        chosen = [one for one in str(element.get("value", "")).split(",") if one]
        if "choices.data" not in element and set(chosen) - set(values):
            raise self._wrong(where, "value is none of the choices")
        if len(chosen) > 1 and element.get("isMultiSelect") is not True:
            raise self._wrong(where, "more than one value without isMultiSelect")

    def _id(self, value: Json, where: str) -> None:
        name = value.get("id")
        if name is None:
            return
        if not isinstance(name, str) or not name or name in self._ids:
            raise self._wrong(where, f"id {name!r} is empty, no string, or used twice")
        self._ids.add(name)

    def _object(self, value: Any, where: str) -> Json:
        if not isinstance(value, dict):
            raise self._wrong(where, "is no object")
        return cast("Json", value)

    def _list(self, value: Json, name: str, where: str) -> list[Any]:
        found = value.get(name, [])
        if not isinstance(found, list):
            raise self._wrong(where, f"{name} is no list")
        return cast("list[Any]", found)

    @staticmethod
    def _wrong(where: str, what: str) -> Exception:
        return bad_request(f"Adaptive Card, {where}: {what}", "BadSyntax")
