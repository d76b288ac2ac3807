"""Which of the passages found are handed on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.answer.budget import estimate_tokens
from retrieval.documents import is_attachment
from retrieval.index.protocol import Hit

_WORD = re.compile(r"[^\W_]+")


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Leave out a passage whose words stand, in the same order, in a better one.

    Case, spaces, punctuation and Markdown don't count. Every word does: two versions of a rule that
    differ by one number, or by one "not", are both handed on.
    """
    kept: list[tuple[Hit, str]] = []
    for hit in hits:
        words = f" {' '.join(_WORD.findall(hit.chunk.text.casefold()))} "
        if not any(words in better for _, better in kept):
            kept.append((hit, words))
    return [hit for hit, _ in kept]


def with_quota(hits: Sequence[Hit], *, limit: int, least: int, most: int) -> list[Hit]:
    """The same passages, with at least `least` and at most `most` of attached files among the first
    `limit`, where there are as many; places that no other passage takes are theirs too.

    They are the best of each kind, in the order of the hits; what has no place follows.
    """
    attached = [hit for hit in hits if is_attachment(hit.chunk.meta)]
    others = len(hits) - len(attached)
    by_score = sum(is_attachment(hit.chunk.meta) for hit in hits[:limit])
    places = max(min(max(by_score, least), most, limit), limit - others)
    sure = {hit.chunk.chunk_id for hit in attached[:places]}
    first: list[Hit] = []
    free = limit - len(sure)
    for hit in hits:
        if hit.chunk.chunk_id in sure:
            first.append(hit)
        elif free > 0 and not is_attachment(hit.chunk.meta):
            free -= 1
            first.append(hit)
    taken = {hit.chunk.chunk_id for hit in first}
    return [*first, *(hit for hit in hits if hit.chunk.chunk_id not in taken)]


def fitting(hits: Sequence[Hit], *, limit: int, tokens: int) -> list[Hit]:
    """The best `limit` hits that fit into `tokens`; a long one is skipped for shorter ones behind
    it, but the very best is always kept."""
    kept: list[Hit] = []
    for hit in hits:
        if len(kept) == limit:
            break
        tokens -= (size := estimate_tokens(hit.chunk.text))
        if tokens < 0 and kept:
            tokens += size
        else:
            kept.append(hit)
    return kept
