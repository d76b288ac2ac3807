"""Which model serves which role, and why: settings in, choices out, nothing opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from retrieval.models.protocol import ModelError
from retrieval.models.spec import Spec, Task, parse, require

Role = Literal["answer", "rephrase", "summary", "embedding", "rerank"]


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What the environment says of models. Keys are kept out of `repr`."""

    cache_dir: Path
    answer: str | None = None
    rephrase: str | None = None
    summary: str | None = None
    embedding: str | None = None
    rerank: str | None = None
    reranking: bool = True
    gemini_api_key: str | None = field(default=None, repr=False)
    gemini_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)
    openai_base_url: str | None = None
    scw_api_key: str | None = field(default=None, repr=False)
    scw_api_base: str | None = None
    cohere_api_key: str | None = field(default=None, repr=False)
    cohere_base_url: str | None = None
    aws_region: str | None = None
    aws_endpoint: str | None = None
    #: Seconds a model call may take.
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class Choice:
    """`spec` is None where a role is off. `problem` says what has to be set, where something has."""

    role: Role
    spec: Spec | None
    why: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Default:
    """The setting of a role, and what serves it without one."""

    variable: str
    task: Task
    spec: str
    key: str
    without: str


_DEFAULTS: dict[Role, _Default] = {
    "answer": _Default(
        "ANSWER_MODEL",
        "text",
        "gemini:gemini-3-flash-preview",
        "GEMINI_API_KEY",
        "answers quote the documents as they stand",
    ),
    "rephrase": _Default(
        "REPHRASE_MODEL",
        "text",
        "gemini:gemini-2.5-flash",
        "GEMINI_API_KEY",
        "questions are searched as they stand",
    ),
    "summary": _Default(
        "SUMMARY_MODEL",
        "text",
        "gemini:gemini-2.5-flash",
        "GEMINI_API_KEY",
        "summaries are sentences of the documents",
    ),
    "embedding": _Default(
        "EMBEDDING_MODEL",
        "embedding",
        "scaleway:bge-multilingual-gemma2",
        "SCW_API_KEY",
        "the small multilingual model on this machine is used",
    ),
}


def choose(settings: ModelSettings) -> list[Choice]:
    """One choice a role, in a fixed order; nothing is raised, problems are told in the choices."""
    chosen = [_choose(role, settings) for role in _DEFAULTS]
    return [*chosen, _choose_rerank(settings)]


def key_of(settings: ModelSettings, provider: str) -> str | None:
    return {
        "gemini": settings.gemini_api_key,
        "openai": settings.openai_api_key,
        "scaleway": settings.scw_api_key,
        "cohere": settings.cohere_api_key,
    }.get(provider)


def _choose(role: Role, settings: ModelSettings) -> Choice:
    default = _DEFAULTS[role]
    configured = getattr(settings, role)
    if configured:
        return _checked(role, configured, default.variable, default.task, settings)
    spec = parse(default.spec)
    if key_of(settings, spec.provider):
        return Choice(role, spec, f"{default.key} is set")
    return Choice(role, Spec("local", ""), f"{default.key} is not set, so {default.without}")


def _choose_rerank(settings: ModelSettings) -> Choice:
    if not settings.reranking:
        return Choice("rerank", None, "FEATURE_FLAG_RERANKING is off")
    if not settings.rerank:
        return Choice("rerank", None, "RERANK_MODEL is not set")
    return _checked("rerank", settings.rerank, "RERANK_MODEL", "rerank", settings)


def _checked(role: Role, text: str, variable: str, task: Task, settings: ModelSettings) -> Choice:
    why = f"{variable} is set"
    try:
        spec = parse(text, variable=variable)
        require(spec, task, variable=variable)
    except ModelError as error:
        return Choice(role, None, why, str(error))
    return Choice(role, spec, why, _missing(spec, variable, settings))


def _missing(spec: Spec, variable: str, settings: ModelSettings) -> str:
    # Bedrock's credentials are found by boto3 itself; a server of one's own may need no key.
    own_server = spec.provider == "openai" and settings.openai_base_url
    if spec.provider in ("local", "bedrock") or own_server or key_of(settings, spec.provider):
        return ""
    base = " (or OPENAI_BASE_URL for a server of your own)" if spec.provider == "openai" else ""
    return f"{variable} is {spec}, but {spec.key} is not set. Set it{base}, or choose another model."
