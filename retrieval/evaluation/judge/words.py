"""The rule judge's word lists, read once."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, cast


@cache
def _load() -> dict[str, Any]:
    place = files("retrieval.evaluation") / "judge" / "data" / "words.toml"
    return tomllib.loads(place.read_text(encoding="utf-8"))


@cache
def negations() -> frozenset[str]:
    """Of languages with spaces, folded."""
    lists = cast("dict[str, str]", _load()["negation"])
    words = (
        word for language, text in lists.items() if language not in ("zh", "ja") for word in text.split()
    )
    return frozenset(word.casefold() for word in words)


@cache
def negation_parts() -> dict[str, tuple[str, ...]]:
    """By language, of those without spaces."""
    lists = cast("dict[str, str]", _load()["negation"])
    return {language: tuple(lists[language].split()) for language in ("zh", "ja")}


@cache
def contrasts(language: str) -> tuple[tuple[str, str], ...]:
    """Pairs of words or phrases of which one says the opposite of the other."""
    text = cast("dict[str, str]", _load()["contrast"]).get(language, "")
    pairs = (pair.replace("_", " ").split("/") for pair in text.split())
    return tuple((one, other) for one, other in pairs)


@cache
def values(kind: str) -> dict[str, float]:
    """`kind` is "numbers", "months" or "weekdays": folded word -> value, of all languages."""
    lists = cast("dict[str, str]", _load()[kind])
    pairs = (pair.split("=") for text in lists.values() for pair in text.split())
    return {word.casefold(): float(value) for word, value in pairs}


@cache
def units() -> dict[str, tuple[str, float]]:
    """Folded unit -> (dimension, factor)."""
    tables = cast("dict[str, dict[str, str]]", _load()["units"])
    return {
        word.replace("_", " ").casefold(): (dimension, float(factor))
        for dimension, table in tables.items()
        for factor, words in table.items()
        for word in words.split()
    }
