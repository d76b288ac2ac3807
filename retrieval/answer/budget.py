"""How much text fits into a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.answer.protocol import HistoryTurn

#: UTF-8 bytes a token. Real tokenizers need fewer tokens for most languages, so estimates are safe.
_BYTES_PER_TOKEN = 3
#: Of a thread, for the rewrite of a question: all of it, and what of each message.
_REPHRASE_TOKENS = 1_500
_LAST_ANSWER_TOKENS = 400
_ASKED_TOKENS = 200
_OLDER_ANSWER_TOKENS = 100


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


def rephrase_turns(history: Sequence[HistoryTurn]) -> list[HistoryTurn]:
    """What a question's rewrite may draw on, oldest first.

    What is referred to stands mostly in the people's turns and in the last answer; of older answers the
    beginning is kept, and they go first where a thread is too long (`bench/follow_ups.py --prompts`).
    """
    last = max((place for place, turn in enumerate(history) if turn.role == "assistant"), default=-1)
    left = _REPHRASE_TOKENS
    kept: dict[int, HistoryTurn] = {}

    def keep(place: int, most: int) -> None:
        nonlocal left
        turn = history[place]
        text = shorten(turn.text.strip(), most)
        if text and estimate_tokens(text) <= left:
            left -= estimate_tokens(text)
            kept[place] = HistoryTurn(turn.role, text, turn.name)

    newest = range(len(history) - 1, -1, -1)
    if last >= 0:
        keep(last, _LAST_ANSWER_TOKENS)
    asked = [place for place in newest if history[place].role == "person"]
    # The first question mostly names what the thread is about.
    for place in [*asked[:1], *asked[-1:], *asked[1:-1]]:
        if place not in kept:
            keep(place, _ASKED_TOKENS)
    for place in newest:
        if history[place].role == "assistant" and place != last:
            keep(place, _OLDER_ANSWER_TOKENS)
    return [kept[place] for place in sorted(kept)]
