"""The in-memory models keep to the protocols and are deterministic."""

import numpy as np
import pytest
from pydantic import BaseModel

from retrieval.models.protocol import (
    Embedder,
    ModelError,
    Prompt,
    PromptMessage,
    Reranker,
    TextModel,
    Usage,
)
from tests.doubles.models import Broken, HashEmbedder, ScriptedReranker, ScriptedTextModel
from tests.retrieval.models.support import collect

PROMPT = Prompt("Be brief.", [PromptMessage("user", "How often?")])


class Days(BaseModel):
    days: int


async def test_a_scripted_model_answers_in_every_way_and_records_the_calls() -> None:
    scripted = ScriptedTextModel(["Every 90 days.", '{"days": 90}', "Every 90 days.", Days(days=1)])
    model: TextModel = scripted
    assert (await model.complete(PROMPT)).text == "Every 90 days."
    assert (await model.structured(PROMPT, Days))[0].days == 90
    parts = [part async for part in model.stream(PROMPT)]
    assert "".join(p for p in parts if isinstance(p, str)) == "Every 90 days."
    assert isinstance(parts[-1], Usage)
    assert (await model.structured(PROMPT, Days))[0].days == 1
    assert [call.kind for call in scripted.calls] == ["complete", "structured", "stream", "structured"]
    with pytest.raises(AssertionError):
        await model.complete(PROMPT)


async def test_a_scripted_model_fails_as_told() -> None:
    model = ScriptedTextModel([ModelError("refused", "No."), Broken("Every 9"), "no json"])
    with pytest.raises(ModelError, match=r"No\."):
        await model.complete(PROMPT)
    texts, usage, error = await collect(model.stream(PROMPT))
    assert (texts, usage) == (["Every 9"], None)
    assert error is not None
    with pytest.raises(ModelError) as caught:
        await model.structured(PROMPT, Days)
    assert caught.value.kind == "invalid_output"


async def test_the_hash_embedder_puts_shared_words_near() -> None:
    embedder: Embedder = HashEmbedder()
    passages = await embedder.embed_passages(["Rotate the API key every 90 days", "Lunch is at noon", ""])
    query = await embedder.embed_queries(["how often to rotate an api key"])
    assert passages.shape == (3, embedder.fingerprint.dimension)
    assert passages.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(passages, axis=1), 1.0, rtol=1e-5)
    scores = passages @ query[0]
    assert scores.argmax() == 0


async def test_the_scripted_reranker_sorts_by_overlap() -> None:
    reranker: Reranker = ScriptedReranker()
    ranked = await reranker.rerank("api key", ["lunch", "the API key", "a key"], limit=2)
    assert [(r.index, r.score) for r in ranked] == [(1, 1.0), (2, 0.5)]
