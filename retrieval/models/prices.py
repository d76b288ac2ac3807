"""What models cost, in US dollars, so that a trace can say it. Estimates: a bill is the provider's.

List prices for standard, uncached, on-demand use. Only what could be checked is here; anything else
costs None. Scaleway bills in euros and Bedrock by region, so neither is listed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from retrieval.models.protocol import Usage


@dataclass(frozen=True, slots=True)
class Price:
    """US$ for a million tokens in, a million out, and for a thousand searches; `seen` is year-month."""

    seen: str
    input: float = 0.0
    output: float = 0.0
    searches: float = 0.0


PRICES: dict[str, Price] = {
    "gemini:gemini-3-flash-preview": Price("2026-07", 0.50, 3.00),
    "gemini:gemini-2.5-flash": Price("2026-07", 0.30, 2.50),
    "gemini:gemini-2.5-flash-lite": Price("2026-07", 0.10, 0.40),
    "gemini:gemini-embedding-001": Price("2026-07", 0.15),
    "openai:gpt-5.4": Price("2026-06", 2.50, 15.00),
    "openai:gpt-5.4-mini": Price("2026-06", 0.75, 4.50),
    "openai:gpt-5.4-nano": Price("2026-06", 0.20, 1.25),
    "openai:gpt-5": Price("2026-06", 1.25, 10.00),
    "openai:gpt-5-mini": Price("2026-06", 0.25, 2.00),
    "openai:gpt-5-nano": Price("2026-06", 0.05, 0.40),
    "openai:gpt-4.1": Price("2026-06", 2.00, 8.00),
    "openai:gpt-4.1-mini": Price("2026-06", 0.40, 1.60),
    "openai:gpt-4.1-nano": Price("2026-04", 0.10, 0.40),
    "openai:gpt-4o": Price("2026-04", 2.50, 10.00),
    "openai:gpt-4o-mini": Price("2026-04", 0.15, 0.60),
    "openai:text-embedding-3-small": Price("2026-07", 0.02),
    "openai:text-embedding-3-large": Price("2026-07", 0.13),
    "cohere:rerank-v4.0-fast": Price("2026-06", searches=2.00),
    "cohere:rerank-v4.0-pro": Price("2026-06", searches=2.50),
}

_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{3})$")


def cost(model: str, usage: Usage) -> float | None:
    """US dollars of a call of `provider:model`; None where the price is not known, 0 for local ones.

    A dated snapshot (`gpt-4.1-2025-04-14`) costs what its model costs.
    """
    if model.partition(":")[0] == "local":
        return 0.0
    price = PRICES.get(model) or PRICES.get(_DATED.sub("", model))
    if price is None:
        return None
    tokens = usage.input_tokens * price.input + usage.output_tokens * price.output
    return tokens / 1_000_000 + usage.searches * price.searches / 1000
