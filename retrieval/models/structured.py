"""Structured output: JSON out of what a model wrote, validated, with one repair."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from retrieval.models import errors
from retrieval.models.protocol import Completion, Prompt, PromptMessage, Usage
from retrieval.models.spec import Spec

T = TypeVar("T", bound=BaseModel)
_FENCE = re.compile(r"```[\w-]*\s*\n(.*?)(?:```|\Z)", re.DOTALL)


async def structured(
    generate: Callable[[Prompt], Awaitable[Completion]], prompt: Prompt, schema: type[T], *, spec: Spec
) -> tuple[T, Usage]:
    """A validated object. An answer that isn't valid is shown to the model once, with what is wrong.

    Raises `ModelError` (invalid_output) when the second one isn't valid either.
    """
    first = await generate(prompt)
    try:
        return read(first.text, schema), first.usage
    except ValidationError as error:
        complaint = explain(error)
    second = await generate(_repair(prompt, first.text, complaint, schema))
    usage = first.usage + second.usage
    try:
        return read(second.text, schema), usage
    except ValidationError:
        pass  # raised below, so that the model's text isn't in the error's context
    raise errors.invalid_output(spec, f"{spec.label} did not give valid {schema.__name__} data.")


def read(text: str, schema: type[T]) -> T:
    """Parse JSON that may stand in a code fence or between sentences. Raises `ValidationError`."""
    failure: ValidationError | None = None
    for candidate in _candidates(text):
        try:
            return schema.model_validate_json(candidate)
        except ValidationError as error:
            failure = failure or error
    assert failure is not None
    raise failure


def instructions(schema: type[BaseModel]) -> str:
    """Tells a model whose server can't enforce a schema what to write."""
    described = json.dumps(schema.model_json_schema(), ensure_ascii=False)
    return f"Answer with nothing but one JSON object that is valid against this JSON Schema:\n{described}"


def explain(error: ValidationError) -> str:
    """What is wrong, a line a fault, without the input."""
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    lines = [f"{'.'.join(str(part) for part in f['loc']) or 'the answer'}: {f['msg']}" for f in faults]
    return "\n".join(lines[:10])


def _candidates(text: str) -> Iterator[str]:
    """The likeliest first. A fenced block or the outermost braces come before the text as it is."""
    fenced = _FENCE.search(text)
    if fenced:
        yield fenced.group(1)
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]
    yield text.strip()


def _repair(prompt: Prompt, answer: str, complaint: str, schema: type[BaseModel]) -> Prompt:
    request = f"That is not valid:\n{complaint}\n\nWrite it again, shorter if it was cut off. "
    said = PromptMessage("assistant", answer or "(nothing)")
    asked = PromptMessage("user", request + instructions(schema))
    return Prompt(prompt.system, [*prompt.messages, said, asked])
