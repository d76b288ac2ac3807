"""Trying a model with one tiny call, for `kb doctor`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from retrieval.models.embedding import fingerprint_of
from retrieval.models.protocol import Embedder, ModelError, Prompt, PromptMessage, Reranker, TextModel

_HELLO = Prompt("Answer with one word.", [PromptMessage("user", "Are you there?")])


class Checked(NamedTuple):
    ok: bool
    milliseconds: float
    sentence: str


async def check(
    model: TextModel | Embedder | Reranker, *, clock: Callable[[], float] = time.perf_counter
) -> Checked:
    """Whether a model answers, how fast, and a sentence for people. Never raises `ModelError`."""
    began = clock()
    try:
        found = await _call(model)
    except ModelError as error:
        return Checked(False, (clock() - began) * 1000, str(error))
    milliseconds = (clock() - began) * 1000
    return Checked(True, milliseconds, f"{model.name} {found} in {milliseconds:.0f} ms.")


async def _call(model: TextModel | Embedder | Reranker) -> str:
    if isinstance(model, TextModel):
        await model.complete(_HELLO, max_tokens=256)
        return "answered"
    if isinstance(model, Reranker):
        await model.rerank("key", ["The key opens the door."], limit=1)
        return "scored a passage"
    await model.embed_queries(["Are you there?"])
    return f"made a vector of {(await fingerprint_of(model)).dimension} numbers"
