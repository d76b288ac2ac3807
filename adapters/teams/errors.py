"""How the refusals of Teams are read: what can't be helped, what may be tried again, what is not known."""

from __future__ import annotations

from typing import Final

#: Of a 403: the place is gone, or the bot may not write there.
NO_PLACE: Final = frozenset({
    "BotNotInConversationRoster", "ConversationNotFound", "ConversationBlockedByUser", "BotDisabledByAdmin",
    "MessageWritesBlocked", "NotEnoughPermissions", "UserNotFound", "TenantNotFound",
})  # fmt: skip
STREAM_NOT_ALLOWED: Final = "ContentStreamNotAllowed"
STREAM_OUT_OF_ORDER: Final = "ContentStreamSequenceOrderPreConditionFailed"
TOO_LARGE: Final = "MessageSizeTooBig"


class TeamsError(Exception):
    """Teams refused a call, without effect. `code` and `message` are Teams' own; `message` is for reading
    which refusal it is, and not for the log."""

    def __init__(self, status: int, code: str = "", message: str = "") -> None:
        self.status, self.code, self.message = status, code, message
        super().__init__(f"{status} {code}")


class NoPlace(TeamsError):
    """The reply can't be shown there, now or later: one of `NO_PLACE`."""


class Unclear(Exception):
    """The call ended without a readable answer: it may have had its effect."""


class NoEffect(Unclear):
    """The call did not come about, or Teams says that it did nothing: trying again is safe."""


class RateLimited(NoEffect):
    """Refused for now; `seconds` is when to try again."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"rate limited for {seconds:g} s")


class NoGraph(Exception):
    """Microsoft Graph tells nothing; `why` is a word for the log."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


def reason_of(error: Exception) -> str:
    """A word for the log."""
    if isinstance(error, TeamsError):
        return error.code or str(error.status)
    return str(error)[:80] or type(error).__name__
