"""What a command means, such as `/kb list` or `@Footnote kb list`. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

Verb = Literal["ask", "upload", "list", "status", "search", "delete", "settings", "help", "unknown"]

VERBS: Final[tuple[Verb, ...]] = ("ask", "upload", "list", "status", "search", "delete", "settings", "help")
#: Words that make a question, so that it is not taken for a mistyped command.
_WORDS: Final = 3
#: How much alike a mistyped word is, among few words, and at the start of what could be a question.
_ALIKE, _VERY_ALIKE = 0.6, 0.8


@dataclass(frozen=True)
class Help:
    verb: Verb
    #: What is typed after it; may be empty.
    argument: str
    what: str


HELP: Final = (
    Help("ask", "and a question", "I answer only you"),
    Help("upload", "", "add documents"),
    Help("list", "", "the documents that you can ask about"),
    Help("status", "", "what is on its way, and what failed"),
    Help("search", "and some words", "the passages that fit best"),
    Help("delete", "and a name, or its number in the list", "delete a document"),
    Help("settings", "", "for admins"),
)


@dataclass(frozen=True)
class Command:
    verb: Verb
    rest: str = ""
    #: For `unknown`: what was meant, perhaps.
    guess: Verb | None = None


def read_command(text: str) -> Command:
    """The command. A whole question that begins with none is one to ask."""
    words = text.split()
    if not words:
        return Command("help")
    first, rest = words[0].casefold(), text.strip()[len(words[0]) :].strip()
    for verb in VERBS:
        if first == verb:
            return Command(verb, rest)
    question = len(words) >= _WORDS or text.rstrip().endswith(("?", "？", "؟"))
    guess = _guess(first, _VERY_ALIKE if question else _ALIKE)
    if question and (guess is None or text.rstrip().endswith(("?", "？", "؟"))):
        return Command("ask", text.strip())
    return Command("unknown", rest, guess)


def _guess(word: str, alike: float) -> Verb | None:
    found = get_close_matches(word, VERBS, n=1, cutoff=alike)
    return next((verb for verb in VERBS if found and verb == found[0]), None)
