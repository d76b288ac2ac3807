"""The models of every role, built from the settings. SDKs are imported only for what is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from retrieval.models.choices import Choice, ModelSettings, Role, choose, key_of
from retrieval.models.connection import Connection
from retrieval.models.protocol import Embedder, ModelError, Reranker, TextModel
from retrieval.models.retry import RetryPolicy
from retrieval.models.spec import Spec

SCALEWAY = "https://api.scaleway.ai/v1"
Thinking = Literal["minimal", "low"]


@dataclass(frozen=True, slots=True)
class Roles:
    """None for a role of text means: done without a model. None for the reranker means: off.

    Connections belong to the event loop that first uses them: build the roles once a process.
    """

    answer: TextModel | None
    rephrase: TextModel | None
    summary: TextModel | None
    embedder: Embedder
    reranker: Reranker | None
    choices: tuple[Choice, ...]

    async def aclose(self) -> None:
        for model in (self.answer, self.rephrase, self.summary, self.embedder, self.reranker):
            if model is not None:
                await model.aclose()


def build_roles(settings: ModelSettings) -> Roles:
    """Raises `ModelError` (misconfigured) that says everything that has to be set."""
    choices = choose(settings)
    problems = [choice.problem for choice in choices if choice.problem]
    if problems:
        raise ModelError("misconfigured", " ".join(problems))
    build = _Builder(settings)
    specs: dict[Role, Spec | None] = {choice.role: choice.spec for choice in choices}
    return Roles(
        answer=build.text(specs["answer"], build.policy, "low"),
        rephrase=build.text(specs["rephrase"], build.quick, "minimal"),
        summary=build.text(specs["summary"], build.bulk, "minimal"),
        embedder=build.embedder(specs["embedding"]),
        reranker=build.reranker(specs["rerank"]),
        choices=tuple(choices),
    )


def describe(roles: Roles) -> list[tuple[str, str, str]]:
    """Role, model and why, for people: ("answer", "gemini:gemini-3-flash-preview", "... is set")."""
    return [(c.role, str(c.spec) if c.spec else "off", c.why) for c in roles.choices]


class _Builder:
    """Keeps one connection a provider for all roles."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        timeout = settings.timeout
        #: An answer: someone watches it being written.
        self.policy = RetryPolicy(timeout=timeout, deadline=3 * timeout)
        #: A step before the answer, for which there is a fall-back.
        self.quick = RetryPolicy(attempts=2, timeout=min(timeout, 15), deadline=20, longest_retry_after=5)
        #: Work in the background: patience helps.
        self.bulk = replace(self.policy, attempts=5, deadline=8 * timeout, longest_retry_after=90)
        self._connections: dict[str, Connection[Any]] = {}

    def text(self, spec: Spec | None, policy: RetryPolicy, thinking: Thinking) -> TextModel | None:
        if spec is None or spec.provider == "local":
            return None
        if spec.provider == "gemini":
            from retrieval.models.gemini import GeminiText

            return GeminiText(spec, self._gemini(), policy=policy, thinking=thinking)
        from retrieval.models.openai_compatible import OpenAICompatibleText

        return OpenAICompatibleText(spec, self._openai(spec), policy=policy)

    def embedder(self, spec: Spec | None) -> Embedder:
        if spec is None or spec.provider == "local":
            from retrieval.models.local import E5Embedder

            return E5Embedder(self.settings.cache_dir)
        query = replace(self.policy, timeout=min(self.settings.timeout, 20), deadline=40)
        if spec.provider == "gemini":
            from retrieval.models.gemini_embedder import GeminiEmbedder

            return GeminiEmbedder(spec, self._gemini(), policy=query, bulk_policy=self.bulk)
        from retrieval.models.openai_embedder import OpenAICompatibleEmbedder

        return OpenAICompatibleEmbedder(spec, self._openai(spec), policy=query, bulk_policy=self.bulk)

    def reranker(self, spec: Spec | None) -> Reranker | None:
        if spec is None:
            return None
        settings, quick = self.settings, self.quick
        if spec.provider == "cohere":
            from retrieval.models import cohere_rerank

            connection = cohere_rerank.connect(self._key(spec), settings.cohere_base_url)
            return cohere_rerank.CohereReranker(spec, connection, policy=quick)
        if spec.provider == "bedrock":
            from retrieval.models import bedrock_rerank

            client = bedrock_rerank.connect(
                spec, settings.aws_region, timeout=quick.timeout, endpoint=settings.aws_endpoint
            )
            return bedrock_rerank.BedrockReranker(spec, client, policy=quick)
        from retrieval.models.openai_rerank import OpenAICompatibleReranker

        return OpenAICompatibleReranker(spec, self._openai(spec), policy=quick)

    def _gemini(self) -> Connection[Any]:
        from retrieval.models import gemini_client

        key, url = self.settings.gemini_api_key or "", self.settings.gemini_base_url
        return self._once("gemini", lambda: gemini_client.connect(key, url))

    def _openai(self, spec: Spec) -> Connection[Any]:
        from retrieval.models import openai_client

        scaleway = spec.provider == "scaleway"
        url = (self.settings.scw_api_base or SCALEWAY) if scaleway else self.settings.openai_base_url
        return self._once(spec.provider, lambda: openai_client.connect(self._key(spec), url))

    def _once(self, provider: str, connect: Callable[[], Connection[Any]]) -> Connection[Any]:
        if provider not in self._connections:
            self._connections[provider] = connect()
        return self._connections[provider]

    def _key(self, spec: Spec) -> str:
        return key_of(self.settings, spec.provider) or ""
