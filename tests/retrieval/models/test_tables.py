"""The data: specs, prefixes, prices; and the arithmetic of batches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.models.batching import batches, clean, clip, estimate
from retrieval.models.meter import count, metered
from retrieval.models.prefixes import facts
from retrieval.models.prices import PRICES, cost
from retrieval.models.protocol import ModelError, Usage
from retrieval.models.spec import PROVIDERS, parse, require


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("gemini:gemini-2.5-flash", "gemini", "gemini-2.5-flash"),
        ("openai:llama3.1:8b", "openai", "llama3.1:8b"),
        ("openai:BAAI/bge-m3", "openai", "BAAI/bge-m3"),
        ("bedrock:cohere.rerank-v3-5:0", "bedrock", "cohere.rerank-v3-5:0"),
        (" scaleway : bge-multilingual-gemma2 ", "scaleway", "bge-multilingual-gemma2"),
        ("local", "local", ""),
        ("local:multilingual-e5-small", "local", "multilingual-e5-small"),
    ],
)
def test_a_spec_is_read(text: str, provider: str, model: str) -> None:
    spec = parse(text)
    assert (spec.provider, spec.model) == (provider, model)
    assert parse(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("gemini-2.5-flash", "gemini:gemini-2.5-flash"),
        ("gpt-4o", "openai:gpt-4o"),
        ("llama3.1:8b", "openai:llama3.1:8b"),
        ("rerank-v4.0-fast", "cohere:rerank-v4.0-fast"),
        ("gemini:", "gemini:gemini-2.5-flash"),
        ("OpenAI:gpt-4o", "Providers: gemini, openai"),
        ("", "gemini:gemini-2.5-flash"),
    ],
)
def test_a_wrong_spec_is_told_what_to_write_instead(text: str, instead: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse(text, variable="ANSWER_MODEL")
    assert caught.value.kind == "misconfigured"
    assert "ANSWER_MODEL" in str(caught.value)
    assert instead in str(caught.value)


def test_a_provider_is_held_to_what_it_does() -> None:
    require(parse("scaleway:qwen3-embedding-8b"), "rerank")
    with pytest.raises(ModelError, match=r"can't write text .* gemini, openai, scaleway, local"):
        require(parse("cohere:rerank-v4.0-fast"), "text", variable="ANSWER_MODEL")
    with pytest.raises(ModelError, match="can't rerank"):
        require(parse("local"), "rerank")


@given(st.text(max_size=30))
def test_any_text_is_a_spec_or_a_sentence(text: str) -> None:
    problem = ""
    try:
        assert parse(text).provider in PROVIDERS
    except ModelError as error:
        problem = str(error)
    assert not problem or problem.endswith(".")


SEARCH = "Given a web search query, retrieve relevant passages that answer the query"


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("bge-multilingual-gemma2", f"<instruct>{SEARCH}.\n<query>", ""),
        ("BAAI/bge-multilingual-gemma2", f"<instruct>{SEARCH}.\n<query>", ""),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("multilingual-e5-large-instruct", f"Instruct: {SEARCH}\nQuery: ", ""),
        ("Alibaba-NLP/gte-Qwen2-7B-instruct", f"Instruct: {SEARCH}\nQuery: ", ""),
        ("qwen3-embedding-8b", f"Instruct: {SEARCH}\nQuery:", ""),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("text-embedding-3-small", "", ""),
        ("bge-m3", "", ""),
        ("some-new-model", "", ""),
    ],
)
def test_each_model_gets_what_its_card_says(model: str, query: str, passage: str) -> None:
    assert (facts(model).query, facts(model).passage) == (query, passage)


def test_the_revision_tells_apart_what_makes_other_vectors_of_passages() -> None:
    plain = {facts(name).revision for name in ("bge-multilingual-gemma2", "bge-m3", "unknown")}
    prefixed = {facts(name).revision for name in ("e5-small", "nomic-embed-text")}
    assert plain == {"plain"}
    assert len(prefixed) == 2


# -- prices ------------------------------------------------------------------------------------
def test_a_call_costs_what_its_tokens_cost() -> None:
    usage = Usage(input_tokens=10_000, output_tokens=1_000)
    assert cost("gemini:gemini-2.5-flash", usage) == pytest.approx(0.003 + 0.0025)
    assert cost("openai:gpt-4.1-2025-04-14", usage) == cost("openai:gpt-4.1", usage)
    assert cost("cohere:rerank-v4.0-fast", Usage(searches=2)) == pytest.approx(0.004)


def test_what_is_not_known_has_no_price_and_local_is_free() -> None:
    usage = Usage(1, 1, 1)
    assert cost("scaleway:bge-multilingual-gemma2", usage) is None
    assert cost("openai:llama3.1:8b", usage) is None
    assert cost("local:multilingual-e5-small", usage) == 0.0


def test_prices_name_real_providers_and_when_they_were_seen() -> None:
    for model, price in PRICES.items():
        assert parse(model)
        assert price.seen.startswith("20")
        assert max(price.input, price.output, price.searches) > 0


def test_meters_count_what_is_inside_them() -> None:
    count(Usage(1))  # no meter: nothing happens
    with metered() as outer:
        count(Usage(2))
        with metered() as inner:
            count(Usage(3, searches=1))
    assert inner.usage == Usage(3, searches=1)
    assert outer.usage == Usage(5, searches=1)


# -- batches -----------------------------------------------------------------------------------
@given(st.lists(st.text(max_size=50), max_size=40), st.integers(1, 9), st.integers(1, 60))
def test_batches_keep_order_and_limits(texts: list[str], number: int, tokens: int) -> None:
    made = list(batches(texts, count=number, tokens=tokens))
    assert [text for batch in made for text in batch] == texts
    assert all(1 <= len(batch) <= number for batch in made)
    assert all(len(batch) == 1 or sum(map(estimate, batch)) <= tokens for batch in made)


@given(st.text(max_size=300), st.integers(0, 80))
def test_a_clipped_text_is_the_longest_start_that_fits(text: str, tokens: int) -> None:
    cut = clip(text, tokens)
    assert text.startswith(cut)
    assert not cut or estimate(cut) <= tokens
    assert cut == text or estimate(text[: len(cut) + 1]) > tokens


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_a_clean_text_can_be_sent(text: str) -> None:
    assert "\0" not in clean(text)
    clean(text).encode("utf-8")
