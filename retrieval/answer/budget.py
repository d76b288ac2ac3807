"""How much text fits into a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.answer.protocol import HistoryTurn

#: UTF-8 bytes a token. Real tokenizers need fewer tokens for most languages, so estimates are safe.
_BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def shorten(text: str, tokens: int) -> str:
    """The beginning of `text`, at most about `tokens` long, with "…" where something was cut."""
    if estimate_tokens(text) <= tokens:
        return text
    cut = text.encode("utf-8", "replace")[: max(0, tokens * _BYTES_PER_TOKEN - 3)]
    return cut.decode("utf-8", "ignore").rstrip() + "…"


def newest_turns(history: Sequence[HistoryTurn], *, tokens: int, each: int) -> list[HistoryTurn]:
    """The newest messages that fit into `tokens`, oldest first, long ones shortened to `each`."""
    kept: list[HistoryTurn] = []
    for turn in reversed(history):
        text = shorten(turn.text.strip(), each)
        tokens -= estimate_tokens(text)
        if tokens < 0:
            break
        if text:
            kept.append(HistoryTurn(turn.role, text, turn.name))
    return kept[::-1]
