"""Why a document failed, in words for programs and for people, and whether to try again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.files import StorageError
from retrieval.index.protocol import IndexMismatch, IndexUnavailable
from retrieval.ingest.protocol import ADVICE, Unreadable
from retrieval.models.protocol import ModelError

#: After these many kills in the middle of the same version it is given up.
MAX_STARTS: Final = 3
#: Tries when something is unavailable: with `delay` about half an hour in all.
MAX_RETRIES: Final = 12
FIRST_DELAY: Final = 2.0
LONGEST_DELAY: Final = 300.0

CRASHED: Final = (
    "Reading this file stopped the program several times, so it was given up. "
    "Save it in another format and upload that."
)
LOST: Final = "The stored original is gone. Upload the file again."


class KeepsCrashing(Exception):
    """The process was killed each time that it worked on this version."""


class Refusal(Exception):
    """A file that is refused at once. `str()` is one sentence for the person."""

    @classmethod
    def empty(cls) -> Refusal:
        return cls("This file is empty. Check that it was saved, and upload it again.")

    @classmethod
    def too_large(cls, max_bytes: int) -> Refusal:
        return cls(f"This file is larger than {max_bytes // 2**20} MB. Split it and upload the parts.")


@dataclass(frozen=True, slots=True)
class Failure:
    """`reason` is a word for programs: one of ingest's, or where the fault lies."""

    reason: str
    #: One sentence for the person, with what to do next.
    message: str
    #: What is shown while it waits for another try; empty: trying again can't help.
    waiting: str = ""
    #: What an operator must look into: it is logged with its traceback.
    unexpected: bool = False


def describe(error: Exception) -> Failure:
    """What an error during ingest means."""
    match error:
        case KeepsCrashing():
            return Failure("crashed", CRASHED)
        case Unreadable(reason=reason):
            return Failure(reason, ADVICE[reason])
        case ModelError(kind="misconfigured"):
            return Failure(
                "misconfigured",
                "The embedding model is not set up correctly. Tell your administrator (`kb doctor` says "
                "what is wrong), then upload the file again.",
            )
        case ModelError(kind="refused" | "too_long" | "invalid_output" as kind):
            return Failure(
                kind, "The embedding model did not accept this text. Upload it in smaller parts."
            )
        case ModelError():
            return Failure(
                "model_unavailable",
                "The embedding model could not be reached for a long time. Upload the file again later.",
                waiting="Waiting for the embedding model.",
            )
        case IndexMismatch():
            return Failure(
                "misconfigured",
                "The search index belongs to another embedding model. Tell your administrator to run "
                "`kb reindex`, then upload the file again.",
            )
        case IndexUnavailable():
            return Failure(
                "index_unavailable",
                "The search index could not be reached for a long time. Upload the file again later.",
                waiting="Waiting for the search index.",
            )
        case StorageError():
            return Failure("storage", str(error), waiting=str(error))
        case FileNotFoundError():
            return Failure("lost", LOST)
        case _:
            return Failure(
                "internal",
                "Something went wrong on our side. The administrator can find it in the log; "
                "other files are not affected.",
                unexpected=True,
            )


def delay(retries: int) -> float:
    """Seconds until the next try, when there were `retries` before."""
    return min(LONGEST_DELAY, FIRST_DELAY * 2.0**retries)
