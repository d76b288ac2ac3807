"""What kind of turn a message is. Every case of doubt is a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from retrieval.answer.protocol import HistoryTurn, Intent
from retrieval.answer.wording import Saying, sayings_of, words_only

#: Above either, a message is a document rather than a question.
MAX_WORDS: Final = 1500
MAX_CHARS: Final = 10_000

ReworkKind = Literal["shorten", "list", "expand", "reword", "translate"]

#: The wish that decides where a message holds several: the hardest first.
_REWORKS: tuple[ReworkKind, ...] = ("translate", "reword", "list", "shorten", "expand")
_OTHERS: tuple[Intent, ...] = ("capabilities", "thanks", "greeting")
#: Emoji that mean "thanks" under an answer.
_THANKS = frozenset("👍🙏❤🙌👌💯🎉😊🥰😍👏✅🤝💪")


class PhraseIntentDetector:
    """An `IntentDetector` by lists of phrases in `data/intents.toml`.

    A message is something else than a question only if such phrases make it up from end to end:
    "thanks, and where?" is a question, and so is "help me reset my password".
    """

    def detect(self, text: str, history: Sequence[HistoryTurn], *, attached: bool = False) -> Intent:
        if len(text) > MAX_CHARS or (len(text) > MAX_WORDS and len(text.split()) > MAX_WORDS):
            return "too_long"
        answered = any(turn.role == "assistant" for turn in history)
        words = words_only(text)
        if not any(map(str.isalnum, words)):
            if attached:
                return "overview"
            if answered and _THANKS & set(words):
                return "thanks"
            return "only_emoji" if words or ":" in text else "empty"
        said = _said(text)
        if "attached" in said or (attached and said and "thanks" not in said):
            return "overview"
        if "overview" in said:
            return "question"
        if answered and not said.isdisjoint(_REWORKS):
            return "rework"
        for intent in _OTHERS:
            # "ok, shorter" without an answer is no thanks: what is wished for can't be told.
            if intent in said and said.isdisjoint(_REWORKS):
                return intent
        return "question"


def rework_kind(instruction: str) -> ReworkKind | None:
    """What a wish about an answer comes to; None for a wish in no known words."""
    said = _said(instruction)
    return next((kind for kind in _REWORKS if kind in said), None)


def _said(text: str) -> frozenset[Saying]:
    return frozenset[Saying]().union(*(said.sayings for said in sayings_of(text)))
