"""Follow-up questions without a language model: the topic is carried over from the thread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from retrieval.answer.extractive.question import NO_CAPITALS, acronyms_in, names_in, topic_words
from retrieval.answer.extractive.terms import identifiers_of
from retrieval.answer.extractive.topic import topic_of
from retrieval.answer.intent import PhraseIntentDetector
from retrieval.answer.language import language_of
from retrieval.answer.lexicon import UNSPACED, load
from retrieval.answer.protocol import HistoryTurn, Rephrased
from retrieval.trace import Step

#: Words that the alternative carries over.
FEWER_WORDS = 3
#: A question of more topical words stands on its own where a name can't be told by its capital.
SHORT = 3
#: ... and one of so many does anywhere, unless it points back.
LONG = 6
#: "Germany?" and "Rental property" go on from something, whatever they name.
_FRAGMENT_WORDS = 2


class CarryOverRephraser:
    """A `Rephraser` that sets the topical words of a thread before a follow-up.

    A question that names something by itself is left alone: what it asks about is in it. Any other is
    searched in both forms, since a few rules can't tell a change of topic for certain: what answers it
    alone is found by the one, what needs the thread by the other. The one alternative that it makes
    carries fewer words over, in which those of the question weigh more.
    """

    def __init__(self) -> None:
        self._detector = PhraseIntentDetector()

    async def rephrase(
        self,
        question: str,
        history: Sequence[HistoryTurn],
        *,
        alternatives: int,
        step: Step,
    ) -> Rephrased:
        question = question.strip()
        earlier = self._questions(history)
        if not earlier or not goes_on(question):
            return Rephrased(standalone=question)
        answer = next((turn.text for turn in reversed(history) if turn.role == "assistant"), "")
        carried = topic_of(earlier, answer=answer, asked=question)
        step.outputs["carried over"] = carried
        if not carried:
            return Rephrased(standalone=question)
        fewer = topic_of(earlier, answer=answer, asked=question, most=FEWER_WORDS)
        short = [f"{' '.join(fewer)} {question}"] if len(fewer) < len(carried) else []
        return Rephrased(
            standalone=f"{' '.join(carried)} {question}",
            alternatives=tuple(short[:alternatives]),
            used_history=True,
            keeps_question=True,
        )

    def _questions(self, history: Sequence[HistoryTurn]) -> list[str]:
        """What people asked in the thread, oldest first, without greetings and thanks."""
        return [
            turn.text
            for place, turn in enumerate(history)
            if turn.role == "person" and self._detector.detect(turn.text, history[:place]) == "question"
        ]


def goes_on(question: str) -> bool:
    """Whether a question of a thread asks about what was asked before, as far as its words show."""
    language = language_of(question) or "en"
    if len(question.split()) <= _FRAGMENT_WORDS and language not in UNSPACED:
        return True
    if _cue("openers", question, language) or _cue("closers", question, language):
        return True
    topic = topic_words(question, language)
    length = sum(map(len, topic)) // 2 if language in UNSPACED else len(topic)
    points_back = _cue("pronouns", question, language)
    named = bool(identifiers_of(question) or acronyms_in(question))
    if language in NO_CAPITALS:
        return points_back or (length <= SHORT and not named)
    named = named or bool(names_in(question))
    if named:
        return points_back and length <= SHORT
    return points_back or length < LONG


def _cue(kind: str, question: str, language: str) -> bool:
    return _cues(kind, language).search(" ".join(question.casefold().split())) is not None


@cache
def _cues(kind: str, language: str) -> re.Pattern[str]:
    text: str = load("follow_ups")[kind].get(language, "")
    phrases = text.split(" | ") if kind != "pronouns" else text.split()
    if not text:
        return re.compile(r"(?!)")
    body = "|".join(map(re.escape, sorted(phrases, key=len, reverse=True)))
    before, after = (r"(?<!\w)", r"(?!\w)") if language not in UNSPACED else ("", "")
    if kind == "openers":
        return re.compile(rf"\A[\W_]*(?:{body}){after}")
    if kind == "closers":
        # Korean particles are part of their word.
        return re.compile(rf"{before if language != 'ko' else ''}(?:{body})[\W_]*\Z")
    return re.compile(f"{before}(?:{body}){after}")
