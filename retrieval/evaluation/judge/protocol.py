"""Who says whether a passage holds a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Verdict:
    supported: bool
    #: One word or a short sentence.
    reason: str = ""


class Judge(Protocol):
    @property
    def name(self) -> str: ...

    async def judge(self, sentence: str, passage: str) -> Verdict:
        """Whether everything that `sentence` says stands in `passage`. A model may raise `ModelError`."""
        ...
