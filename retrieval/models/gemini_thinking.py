"""How much a Gemini model thinks before it writes.

Gemini 2.5 takes a budget in tokens, Gemini 3 and later a level, older models neither:
https://ai.google.dev/gemini-api/docs/thinking. Thinking counts towards `maxOutputTokens`, so the
limit that is sent is the room for the text plus the room for thinking.
"""

from __future__ import annotations

import re
from typing import Literal

from google.genai import types

Thinking = Literal["minimal", "low", "medium", "high"]

_ROOM: dict[Thinking, int] = {"minimal": 512, "low": 2048, "medium": 8192, "high": 16_384}
_BUDGET: dict[Thinking, int] = {"minimal": 0, "low": 1024, "medium": 8192, "high": 16_384}
_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")
_BUDGET_PRO = 128  # 2.5 Pro can't stop thinking


def thinking_config(model: str, thinking: Thinking) -> types.ThinkingConfig | None:
    version = _version(model)
    if version >= (3, 0):
        # Pro models know no level below low.
        level = "low" if "pro" in model and thinking == "minimal" else thinking
        return types.ThinkingConfig(thinking_level=types.ThinkingLevel(level.upper()))
    if version == (2, 5):
        budget = _BUDGET[thinking]
        return types.ThinkingConfig(thinking_budget=max(budget, _BUDGET_PRO) if "pro" in model else budget)
    return None


def room(model: str, thinking: Thinking) -> int:
    """Tokens to allow for thinking on top of the text; generous, as budgets are soft."""
    return _ROOM[thinking] if _version(model) >= (2, 5) else 0


def _version(model: str) -> tuple[int, int]:
    found = _VERSION.search(model)
    return (int(found.group(1)), int(found.group(2) or 0)) if found else (0, 0)
