"""What embedders and rerankers used, for the trace: their results have no room for it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from retrieval.models.protocol import Usage


@dataclass(slots=True)
class Meter:
    usage: Usage = field(default_factory=Usage)


_meter: ContextVar[Meter | None] = ContextVar("model_meter", default=None)


@contextmanager
def metered() -> Generator[Meter]:
    """Collects what the calls inside use, in tasks started inside too; an outer meter counts them as well.

    with metered() as meter:
        vectors = await embedder.embed_queries(texts)
    trace.input_tokens = meter.usage.input_tokens
    """
    meter = Meter()
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)
        count(meter.usage)


def count(usage: Usage) -> None:
    """Add to the meter around this call, if there is one."""
    if meter := _meter.get():
        meter.usage += usage
