"""Word lists of many languages, kept as TOML in `data/` so that anyone can add to them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

#: Languages written without spaces between words; their lists hold parts to look for in a text.
UNSPACED = frozenset(("zh", "ja", "th"))


@cache
def load(name: str) -> dict[str, Any]:
    """The content of `data/{name}.toml`."""
    return tomllib.loads((files("retrieval.answer") / "data" / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def word_lists(name: str) -> dict[str, frozenset[str]]:
    """`data/{name}.toml` where it is one string of words a language."""
    return {language: frozenset(words.split()) for language, words in load(name).items()}
