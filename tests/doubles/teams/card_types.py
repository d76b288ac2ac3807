"""Elements and actions of Adaptive Cards up to 1.5, with their properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

#: Of every element and action.
COMMON: Final = frozenset(
    {"id", "isVisible", "spacing", "separator", "height", "fallback", "requires", "$when"}
)


@dataclass(frozen=True)
class Kind:
    """What a property takes: a value, or (`holds`) elements, actions or parts of its own."""

    words: str
    takes: Callable[[Any], bool] = lambda value: True
    holds: str | None = None
    many: bool = False
    some: bool = False
    required: bool = False

    @property
    def must(self) -> Kind:
        return replace(self, required=True)


def _one_of(*words: str) -> Kind:
    known = {word.lower() for word in words}
    return Kind(
        f"is one of {sorted(known)}", lambda value: isinstance(value, str) and value.lower() in known
    )


def _of(kind: type, words: str) -> Kind:
    return Kind(
        words, lambda value: isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    )


def _holds(what: str, *, some: bool = False) -> Kind:
    return Kind(f"is a list of {what}", holds=what, many=True, some=some)


STRING: Final = _of(str, "is a string")
TEXT: Final = Kind("is a string that has something", lambda v: isinstance(v, str) and bool(v))
BOOL: Final = _of(bool, "is a boolean")
INT: Final = _of(int, "is a whole number")
NUMBER: Final = Kind("is a number", lambda v: isinstance(v, int | float) and not isinstance(v, bool))
OBJECT: Final = _of(dict, "is an object")
#: `data` of a submit: Teams takes objects only.
DATA: Final = _of(dict, "is an object")
HTTPS: Final = Kind(
    "is an https address or a data URI",
    lambda v: isinstance(v, str) and v.startswith(("https://", "data:image/")),
)
LINK: Final = Kind(
    "is an address", lambda v: isinstance(v, str) and v.startswith(("https://", "http://", "mailto:"))
)
ANY: Final = Kind("is anything")
ACTION: Final = Kind("is an action", holds="action")
COLOR = _one_of("default", "dark", "light", "accent", "good", "warning", "attention")
SIDE = _one_of("left", "center", "right")
UPRIGHT = _one_of("top", "center", "bottom")
STYLE = _one_of("default", "emphasis", "good", "attention", "warning", "accent")
WIDTH: Final = Kind("is a width", lambda v: isinstance(v, str | int | float) and not isinstance(v, bool))

_WORDS: Final[Mapping[str, Kind]] = {
    "color": COLOR, "fontType": _one_of("default", "monospace"), "isSubtle": BOOL,
    "size": _one_of("default", "small", "medium", "large", "extraLarge"),
    "weight": _one_of("default", "lighter", "bolder"),
}  # fmt: skip
_BOX: Final[Mapping[str, Kind]] = {
    "style": STYLE, "verticalContentAlignment": UPRIGHT, "bleed": BOOL, "backgroundImage": ANY,
    "minHeight": STRING, "rtl": BOOL, "selectAction": ACTION,
}  # fmt: skip
_INPUT: Final[Mapping[str, Kind]] = {"label": TEXT, "errorMessage": TEXT, "isRequired": BOOL}

ELEMENTS: Final[dict[str, dict[str, Kind]]] = {
    "TextBlock": {
        "text": STRING.must, "wrap": BOOL, "maxLines": INT, "horizontalAlignment": SIDE,
        "style": _one_of("default", "heading", "columnHeader"), **_WORDS,
    },
    "RichTextBlock": {"inlines": _holds("Run", some=True).must, "horizontalAlignment": SIDE},
    "Image": {
        "url": HTTPS.must, "altText": STRING, "backgroundColor": STRING, "horizontalAlignment": SIDE,
        "selectAction": ACTION, "size": _one_of("auto", "stretch", "small", "medium", "large"),
        "style": _one_of("default", "person"), "width": STRING, "msTeams": OBJECT,
    },
    "ImageSet": {"images": _holds("element", some=True).must, "imageSize": STRING},
    "Media": {"sources": ANY.must, "poster": STRING, "altText": STRING},
    "Container": {"items": _holds("element").must, **_BOX},
    "ColumnSet": {"columns": _holds("Column"), "horizontalAlignment": SIDE, **_BOX},
    "FactSet": {"facts": _holds("Fact", some=True).must},
    "ActionSet": {"actions": _holds("action", some=True).must},
    "Table": {
        "columns": _holds("TableColumnDefinition", some=True).must,
        "rows": _holds("TableRow", some=True).must,
        "firstRowAsHeader": BOOL, "firstRowAsHeaders": BOOL, "showGridLines": BOOL, "gridStyle": STYLE,
        "horizontalCellContentAlignment": SIDE, "verticalCellContentAlignment": UPRIGHT,
    },
    "Input.Text": {
        "isMultiline": BOOL, "maxLength": INT, "placeholder": STRING, "regex": STRING, "value": STRING,
        "style": _one_of("text", "tel", "url", "email", "password"), "inlineAction": ACTION, **_INPUT,
    },
    "Input.Number": {"max": NUMBER, "min": NUMBER, "placeholder": STRING, "value": NUMBER, **_INPUT},
    "Input.Date": {"max": STRING, "min": STRING, "placeholder": STRING, "value": STRING, **_INPUT},
    "Input.Time": {"max": STRING, "min": STRING, "placeholder": STRING, "value": STRING, **_INPUT},
    "Input.Toggle": {
        "title": TEXT.must, "value": STRING, "valueOff": STRING, "valueOn": STRING, "wrap": BOOL, **_INPUT,
    },
    "Input.ChoiceSet": {
        "choices": _holds("Choice"), "choices.data": OBJECT, "isMultiSelect": BOOL, "placeholder": STRING,
        "style": _one_of("compact", "expanded", "filtered"), "value": STRING, "wrap": BOOL, **_INPUT,
    },
}  # fmt: skip
INPUTS: Final = frozenset(name for name in ELEMENTS if name.startswith("Input."))

#: Parts that stand only in the element they belong to.
PARTS: Final[dict[str, dict[str, Kind]]] = {
    "TextRun": {
        "text": STRING.must, "italic": BOOL, "strikethrough": BOOL, "underline": BOOL, "highlight": BOOL,
        "selectAction": ACTION, **_WORDS,
    },
    "Column": {"items": _holds("element"), "width": WIDTH, **_BOX},
    "Fact": {"title": STRING.must, "value": STRING.must},
    "TableColumnDefinition": {
        "width": WIDTH, "horizontalCellContentAlignment": SIDE, "verticalCellContentAlignment": UPRIGHT,
    },
    "TableRow": {
        "cells": _holds("TableCell", some=True).must, "style": STYLE,
        "horizontalCellContentAlignment": SIDE, "verticalCellContentAlignment": UPRIGHT,
    },
    "TableCell": {"items": _holds("element").must, **_BOX},
    "Choice": {"title": TEXT.must, "value": STRING.must},
}  # fmt: skip

_BUTTON: Final[Mapping[str, Kind]] = {
    "title": STRING, "iconUrl": STRING, "style": _one_of("default", "positive", "destructive"),
    "tooltip": STRING, "isEnabled": BOOL, "mode": _one_of("primary", "secondary"),
}  # fmt: skip
_ASSOCIATED: Final = _one_of("auto", "none")
ACTIONS: Final[dict[str, dict[str, Kind]]] = {
    "Action.OpenUrl": {"url": LINK.must, **_BUTTON},
    "Action.Submit": {"data": DATA, "associatedInputs": _ASSOCIATED, **_BUTTON},
    "Action.Execute": {"verb": STRING, "data": DATA, "associatedInputs": _ASSOCIATED, **_BUTTON},
    "Action.ShowCard": {"card": OBJECT.must, **_BUTTON},
    "Action.ToggleVisibility": {"targetElements": ANY.must, **_BUTTON},
}
