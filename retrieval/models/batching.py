"""Texts in batches that a server accepts, sized without the model's own tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def estimate(text: str) -> int:
    """Tokens, guessed: 3.5 ASCII characters each, one for each other character.

    High for every script that the usual tokenizers serve well, which is the safe side.
    """
    ascii_count = len(text.encode("ascii", "ignore"))
    return int(ascii_count / 3.5) + (len(text) - ascii_count) + 1


def clip(text: str, tokens: int) -> str:
    """The start of a text that is at most `tokens` long by `estimate`."""
    if estimate(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(text[:middle]) <= tokens else (low, middle - 1)
    return text[:low]


def clean(text: str) -> str:
    """What can be sent as JSON: lone surrogates replaced, NUL removed."""
    return text.translate(_SURROGATES).replace("\0", "")


def batches(texts: Sequence[str], *, count: int, tokens: int) -> Iterator[list[str]]:
    """Runs of texts, in order, of at most `count` texts and `tokens` estimated tokens each.

    A text that is longer than `tokens` by itself makes a batch of its own.
    """
    batch: list[str] = []
    used = 0
    for text in texts:
        size = estimate(text)
        if batch and (len(batch) >= count or used + size > tokens):
            yield batch
            batch, used = [], 0
        batch.append(text)
        used += size
    if batch:
        yield batch
