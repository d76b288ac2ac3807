"""`provider:model`: how a model is named in the environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from retrieval.models.protocol import ModelError

Task = Literal["text", "embedding", "rerank"]


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: its name for people, the variables of its key and address, what it is used for."""

    label: str
    key: str
    address: str
    example: str
    tasks: frozenset[Task]


def _provider(label: str, key: str, address: str, example: str, *tasks: Task) -> Provider:
    return Provider(label, key, address, example, frozenset(tasks))


PROVIDERS: dict[str, Provider] = {
    "gemini": _provider(
        "Gemini", "GEMINI_API_KEY", "GEMINI_BASE_URL", "gemini:gemini-2.5-flash", "text", "embedding"
    ),
    "openai": _provider(
        "The OpenAI-compatible server",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "openai:gpt-5-mini",
        "text",
        "embedding",
        "rerank",
    ),
    "scaleway": _provider(
        "Scaleway",
        "SCW_API_KEY",
        "SCW_API_BASE",
        "scaleway:bge-multilingual-gemma2",
        "text",
        "embedding",
        "rerank",
    ),
    "cohere": _provider("Cohere", "COHERE_API_KEY", "COHERE_BASE_URL", "cohere:rerank-v4.0-fast", "rerank"),
    "bedrock": _provider(
        "Amazon Bedrock", "AWS_ACCESS_KEY_ID", "AWS_REGION", "bedrock:cohere.rerank-v3-5:0", "rerank"
    ),
    "local": _provider("The local model", "", "", "local", "text", "embedding"),
}


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed `provider:model`. The model of `local` may be empty: there is one of each kind."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}" if self.model else self.provider

    @property
    def label(self) -> str:
        return PROVIDERS[self.provider].label

    @property
    def key(self) -> str:
        """The environment variable of the provider's key."""
        return PROVIDERS[self.provider].key

    @property
    def address(self) -> str:
        """The environment variable that says where the provider is reached."""
        return PROVIDERS[self.provider].address


def parse(text: str, *, variable: str = "the model") -> Spec:
    """Read `provider:model`; the model may hold colons itself (`openai:llama3.1:8b`).

    `variable` is the setting that holds the text, named in the error. Raises `ModelError`
    (misconfigured) that says what to write instead.
    """
    provider, colon, model = (part.strip() for part in text.partition(":"))
    if provider == "local":
        return Spec(provider, model)
    if provider in PROVIDERS and model:
        return Spec(provider, model)
    if provider in PROVIDERS:
        example = PROVIDERS[provider].example
        raise ModelError("misconfigured", f"{variable} names no model. Write it as {example}, for example.")
    problem = f"has an unknown provider: {provider!r}" if colon else f"names no provider: {text!r}"
    raise ModelError(
        "misconfigured",
        f"{variable} {problem}. Write it as provider:model, for example {_guess(text)}. "
        f"Providers: {', '.join(PROVIDERS)}.",
    )


def require(spec: Spec, task: Task, *, variable: str = "the model") -> None:
    """Raise `ModelError` (misconfigured) unless the provider serves that task here."""
    if task in PROVIDERS[spec.provider].tasks:
        return
    able = ", ".join(name for name, provider in PROVIDERS.items() if task in provider.tasks)
    use = {"text": "write text", "embedding": "make embeddings", "rerank": "rerank"}[task]
    raise ModelError(
        "misconfigured", f"{variable} is {spec}, but {spec.provider} can't {use} here. Use one of: {able}."
    )


def _guess(text: str) -> str:
    name = text.strip().lower()
    if name.startswith("gemini"):
        return f"gemini:{text.strip()}"
    if name.startswith("rerank"):
        return f"cohere:{text.strip()}"
    return f"openai:{text.strip()}" if name else "gemini:gemini-2.5-flash"
