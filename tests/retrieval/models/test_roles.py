"""From settings to models: which serves which role, what is missing, and whether it answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from retrieval.models.check import check
from retrieval.models.choices import ModelSettings, choose
from retrieval.models.protocol import ModelError
from retrieval.models.roles import Roles, build_roles, describe
from tests.doubles.cohere_rerank import CohereDouble
from tests.doubles.gemini import GeminiDouble
from tests.doubles.models import HashEmbedder, ScriptedReranker, ScriptedTextModel
from tests.doubles.openai_compatible import OpenAICompatibleDouble
from tests.retrieval.models.support import PROMPT

ROOT = Path(__file__).parents[3]


def settings(**given: Any) -> ModelSettings:
    return ModelSettings(cache_dir=Path("unused"), **given)


def chosen(**given: Any) -> dict[str, str]:
    return {c.role: str(c.spec) if c.spec else "off" for c in choose(settings(**given))}


def test_without_a_key_everything_is_local() -> None:
    local = {"answer": "local", "rephrase": "local", "summary": "local", "embedding": "local"}
    assert chosen() == {**local, "rerank": "off"}
    assert all("is not set" in choice.why for choice in choose(settings()))


def test_a_key_brings_the_defaults_of_its_provider() -> None:
    with_gemini = chosen(gemini_api_key="k")
    assert with_gemini["answer"] == "gemini:gemini-3-flash-preview"
    assert with_gemini["rephrase"] == with_gemini["summary"] == "gemini:gemini-2.5-flash"
    assert with_gemini["embedding"] == "local"
    assert chosen(scw_api_key="k")["embedding"] == "scaleway:bge-multilingual-gemma2"
    assert chosen(scw_api_key="k")["answer"] == "local"
    assert chosen(cohere_api_key="k")["rerank"] == "off"


def test_what_is_set_wins_over_the_defaults() -> None:
    given = {"gemini_api_key": "k", "openai_api_key": "k", "cohere_api_key": "k"}
    made = chosen(**given, answer="openai:gpt-5-mini", rephrase="local", rerank="cohere:rerank-v4.0-fast")
    assert made["answer"] == "openai:gpt-5-mini"
    assert made["rephrase"] == "local"
    assert made["summary"] == "gemini:gemini-2.5-flash"
    assert made["rerank"] == "cohere:rerank-v4.0-fast"
    assert chosen(**given, rerank="cohere:rerank-v4.0-fast", reranking=False)["rerank"] == "off"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"answer": "gemini:gemini-2.5-flash"}, ["ANSWER_MODEL", "GEMINI_API_KEY"]),
        ({"summary": "openai:gpt-5-mini"}, ["SUMMARY_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"]),
        ({"embedding": "scaleway:bge-multilingual-gemma2"}, ["EMBEDDING_MODEL", "SCW_API_KEY"]),
        ({"rerank": "cohere:rerank-v4.0-fast"}, ["RERANK_MODEL", "COHERE_API_KEY"]),
        ({"rerank": "local"}, ["RERANK_MODEL", "can't rerank"]),
        ({"answer": "gpt-4o", "rephrase": "claude:x"}, ["openai:gpt-4o", "REPHRASE_MODEL", "'claude'"]),
        ({"embedding": "cohere:embed-v4"}, ["EMBEDDING_MODEL", "can't make embeddings"]),
    ],
)
def test_everything_that_is_missing_is_told_at_once(given: dict[str, Any], told: list[str]) -> None:
    with pytest.raises(ModelError) as caught:
        build_roles(settings(**given))
    assert caught.value.kind == "misconfigured"
    assert all(word in str(caught.value) for word in told)
    assert sum(bool(choice.problem) for choice in choose(settings(**given))) == len(given)


def test_a_server_of_ones_own_needs_no_key() -> None:
    own = settings(answer="openai:llama3.1:8b", openai_base_url="http://localhost:11434/v1")
    assert not any(choice.problem for choice in choose(own))


def test_settings_do_not_show_their_keys() -> None:
    keys = {f"{name}_api_key": f"secret-{name}" for name in ("gemini", "openai", "scw", "cohere")}
    assert "secret" not in repr(settings(**keys))
    with pytest.raises(ModelError) as caught:
        build_roles(settings(**keys, answer="nonsense"))
    assert "secret" not in str(caught.value)


async def test_every_role_is_built_and_answers() -> None:
    async with GeminiDouble() as gemini, OpenAICompatibleDouble() as scaleway, CohereDouble() as cohere:
        roles = build_roles(
            settings(
                gemini_api_key=gemini.key,
                gemini_base_url=gemini.url,
                scw_api_key=scaleway.key,
                scw_api_base=scaleway.url,
                cohere_api_key=cohere.key,
                cohere_base_url=cohere.url,
                rerank="cohere:rerank-v4.0-fast",
            )
        )
        checked = [
            await check(model)
            for model in (roles.answer, roles.rephrase, roles.summary, roles.embedder, roles.reranker)
            if model is not None
        ]
        assert [result.ok for result in checked] == [True] * 5
        assert all("ms." in result.sentence for result in checked)
        assert roles.answer
        assert roles.rephrase
        await roles.rephrase.complete(PROMPT)
        assert describe(roles)[0] == ("answer", "gemini:gemini-3-flash-preview", "GEMINI_API_KEY is set")
        assert [role for role, _, _ in describe(roles)] == [
            "answer",
            "rephrase",
            "summary",
            "embedding",
            "rerank",
        ]
        await roles.aclose()
    budgets = [received.json["generationConfig"]["thinkingConfig"] for received in gemini.requests[:2]]
    assert budgets == [{"thinking_level": "LOW"}, {"thinking_budget": 0}]


async def test_other_providers_are_built_too() -> None:
    async with OpenAICompatibleDouble() as server, GeminiDouble() as gemini:
        roles = build_roles(
            settings(
                gemini_api_key=gemini.key,
                gemini_base_url=gemini.url,
                openai_api_key=server.key,
                openai_base_url=server.url,
                answer="openai:llama-3.3-70b-instruct",
                summary="local",
                embedding="gemini:gemini-embedding-001",
                rerank="openai:qwen3-embedding-8b",
            )
        )
        assert roles.summary is None
        assert roles.answer
        assert (await roles.answer.complete(PROMPT)).text == "OK"
        assert (await roles.embedder.embed_queries(["text"])).shape == (1, 768)
        assert roles.reranker
        assert await roles.reranker.rerank("a", ["a", "b"], limit=1)
        await roles.aclose()


async def test_closing_the_roles_closes_every_model() -> None:
    text, embedder, reranker = ScriptedTextModel(), HashEmbedder(), ScriptedReranker()
    await Roles(text, None, None, embedder, reranker, ()).aclose()
    assert text.closed
    assert embedder.closed
    assert reranker.closed


async def test_a_check_tells_what_is_wrong() -> None:
    error = ModelError("misconfigured", "Gemini refused the key. Check GEMINI_API_KEY.")
    result = await check(ScriptedTextModel(error))
    assert not result.ok
    assert result.sentence == str(error)
    ticks = iter([1.0, 1.25])
    result = await check(ScriptedReranker(), clock=lambda: next(ticks))
    assert result.ok
    assert result.milliseconds == 250
    assert "64 numbers" in (await check(HashEmbedder())).sentence


def test_no_sdk_is_imported_before_it_is_chosen() -> None:
    """Each takes up to two seconds of processor time and tens of megabytes."""
    code = (
        "import sys, retrieval.models.roles, retrieval.models.check;"
        "heavy = {'google.genai', 'openai', 'cohere', 'boto3', 'onnxruntime'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
