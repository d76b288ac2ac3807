"""What a cell of a grid searches with, and the grid as it is written: "mode=hybrid top_k=5,10"."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any, cast

from pydantic import Field, ValidationError

from retrieval.answer.question import AnswerOptions
from retrieval.documents import Frozen
from retrieval.evaluation.errors import BadSettings
from retrieval.index.protocol import SearchMode

_MOST_CELLS = 64
_WORDS = {"on": True, "off": False, "yes": True, "no": False}


class Settings(Frozen):
    """How one cell searches. What is not set is as it is in a turn, but without a rewrite."""

    mode: SearchMode = "hybrid"
    #: "off", "on" (the one configured) or a model as RERANK_MODEL takes it.
    rerank: str = "off"
    rephrase: bool = False
    #: Further phrasings, with `rephrase`.
    alternatives: int = Field(default=1, ge=0, le=4)
    #: Passages handed on: figures beyond this rank see nothing.
    top_k: int = Field(default=10, ge=1, le=30)
    #: Passages retrieved before any are left out.
    retrieved: int = Field(default=12, ge=1, le=100)

    @property
    def label(self) -> str:
        """The mode and what differs from the default, such as "hybrid rerank=on"."""
        changed = self.model_dump(exclude_defaults=True, exclude={"mode"})
        return " ".join([self.mode, *(f"{name}={_plain(value)}" for name, value in changed.items())])

    def options(self) -> AnswerOptions:
        return AnswerOptions(
            rephrase=self.rephrase,
            alternatives=self.alternatives,
            mode=self.mode,
            rerank=self.rerank != "off",
            passages_retrieved=max(self.retrieved, self.top_k),
            passages_handed_on=self.top_k,
            # A ranking is measured, not a prompt.
            source_tokens=10**9,
        )


def default_grid() -> list[Settings]:
    """The three ways to search, side by side."""
    return [Settings(mode=mode) for mode in ("keyword", "semantic", "hybrid")]


def read_grid(text: str) -> list[Settings]:
    """Every combination of "name=value,value name=value ...", or of a TOML file with lists of values.

    The first value of each name varies slowest. Raises `BadSettings`.
    """
    axes = _from_file(Path(text)) if text.endswith(".toml") else _from_words(text)
    unknown = axes.keys() - Settings.model_fields.keys()
    if unknown:
        known = ", ".join(Settings.model_fields)
        raise BadSettings(f"There is no setting “{min(unknown)}” to try. There are: {known}.")
    combinations = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    if len(combinations) > _MOST_CELLS:
        raise BadSettings(
            f"These are {len(combinations)} combinations; at most {_MOST_CELLS} are tried at once."
        )
    return list(dict.fromkeys(_settings(values) for values in combinations))


def _settings(values: dict[str, Any]) -> Settings:
    if isinstance(rerank := values.get("rerank"), bool):
        values = values | {"rerank": "on" if rerank else "off"}
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadSettings(f"{first['loc'][0]}: {first['msg']}.") from error


def _from_words(text: str) -> dict[str, list[Any]]:
    axes: dict[str, list[Any]] = {}
    for word in text.split():
        name, equals, values = word.partition("=")
        read = [_value(name, value) for value in values.split(",") if value]
        if not equals or not read:
            raise BadSettings(f"“{word}” is not of the form name=value,value.")
        if name in axes:
            raise BadSettings(f"The setting “{name}” is there twice.")
        axes[name] = read
    return axes


def _from_file(path: Path) -> dict[str, list[Any]]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadSettings(f"{path} is missing.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} is no TOML file: {error}") from error
    return {name: cast("list[Any]", v) if isinstance(v, list) else [v] for name, v in content.items()}


def _value(name: str, text: str) -> Any:
    if name == "rerank":
        return text
    return _WORDS.get(text, text)


def _plain(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def rerankers_of(cells: Iterable[Settings]) -> list[str]:
    """Which rerankers the cells want: "on" and model names."""
    return list(dict.fromkeys(cell.rerank for cell in cells if cell.rerank != "off"))
