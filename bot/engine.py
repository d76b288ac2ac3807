"""What searches and answers: the models, the index that they filled, and the pipeline over both."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import structlog
from pydantic import SecretStr
from qdrant_client import AsyncQdrantClient

from bot.config import Config
from retrieval.answer.extractive.answerer import ExtractiveAnswerer
from retrieval.answer.extractive.quotes import OverlapQuoteFinder
from retrieval.answer.extractive.rephrase import CarryOverRephraser
from retrieval.answer.intent import PhraseIntentDetector
from retrieval.answer.llm import LlmAnswerer
from retrieval.answer.phrases import PhraseBook
from retrieval.answer.pipeline import AnswerPipeline
from retrieval.answer.rephrase import LlmRephraser
from retrieval.answer.reranking import RerankStep
from retrieval.answer.retrieve import Retriever
from retrieval.answer.rewriting import Rewriter
from retrieval.answer.search import Searcher
from retrieval.answer.write import Writer
from retrieval.index.generations import EdgeGenerations, IndexGenerations, ServerGenerations
from retrieval.index.protocol import Fingerprint, IndexMismatch, VectorIndex
from retrieval.models.choices import ModelSettings
from retrieval.models.embedding import fingerprint_of
from retrieval.models.roles import Roles, build_roles

log = structlog.get_logger()


def _text(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


def model_settings(config: Config) -> ModelSettings:
    """The part of the configuration that the models are built from."""
    return ModelSettings(
        cache_dir=config.model_cache_dir or config.data_dir / "models",
        answer=config.answer_model,
        rephrase=config.rephrase_model,
        summary=config.summary_model,
        embedding=config.embedding_model,
        rerank=config.rerank_model,
        reranking=config.feature_flag_reranking,
        gemini_api_key=_text(config.gemini_api_key),
        gemini_base_url=config.gemini_base_url,
        openai_api_key=_text(config.openai_api_key),
        openai_base_url=config.openai_base_url,
        scw_api_key=_text(config.scw_api_key),
        scw_api_base=config.scw_api_base,
        cohere_api_key=_text(config.cohere_api_key),
        cohere_base_url=config.cohere_base_url,
        aws_region=config.aws_region,
        timeout=config.model_timeout,
    )


class Engine:
    """Holds the parts that a rebuild exchanges. Open it with `open_engine`."""

    def __init__(
        self,
        roles: Roles,
        generations: IndexGenerations[Any],
        fingerprint: Fingerprint,
        index: VectorIndex,
        *,
        stale: bool,
    ) -> None:
        self.roles = roles
        self.generations = generations
        self.fingerprint = fingerprint
        #: The index is empty and waits for a rebuild: another model had filled the old one.
        self.stale = stale
        self.index = index
        self._extractive = ExtractiveAnswerer(roles.embedder)
        self.pipeline = self._build()

    def use_index(self, index: VectorIndex) -> None:
        """Search `index` from now on. Questions on their way end on the old one."""
        self.index, self.stale = index, False
        self.pipeline = self._build()

    def _build(self) -> AnswerPipeline:
        roles, canned = self.roles, PhraseBook()
        rephraser = LlmRephraser(roles.rephrase) if roles.rephrase else CarryOverRephraser()
        return AnswerPipeline(
            index=self.index,
            retriever=Retriever(
                Searcher(self.index, roles.embedder),
                rewriter=Rewriter(rephraser),
                reranker=RerankStep(roles.reranker) if roles.reranker else None,
            ),
            writer=Writer(
                LlmAnswerer(roles.answer) if roles.answer else self._extractive,
                OverlapQuoteFinder(),
                canned,
                fallback=self._extractive if roles.answer else None,
                modelless=roles.answer is None,
            ),
            intents=PhraseIntentDetector(),
            canned=canned,
        )


@asynccontextmanager
async def open_engine(config: Config, *, rebuilding: bool = False) -> AsyncGenerator[Engine]:
    """Build the models and open the index.

    Raises `ModelError` (misconfigured), `IndexUnavailable`, and `IndexMismatch` unless `rebuilding`.
    """
    async with AsyncExitStack() as stack:
        roles = build_roles(model_settings(config))
        stack.push_async_callback(roles.aclose)
        generations: IndexGenerations[Any]
        if config.qdrant_url:
            client = AsyncQdrantClient(
                url=config.qdrant_url, api_key=_text(config.qdrant_api_key), timeout=20
            )
            stack.push_async_callback(client.close)
            generations = ServerGenerations(client, config.qdrant_collection)
        else:
            generations = EdgeGenerations(config.data_dir / "index")
        fingerprint = await fingerprint_of(roles.embedder)
        stale = False
        try:
            index: VectorIndex = await generations.open(fingerprint)
        except IndexMismatch as mismatch:
            if not rebuilding:
                raise
            log.info("index_of_another_model", stored=mismatch.stored.model, wanted=mismatch.wanted.model)
            index, stale = await generations.begin(fingerprint), True
        engine = Engine(roles, generations, fingerprint, index, stale=stale)
        stack.push_async_callback(lambda: engine.index.close())
        yield engine
