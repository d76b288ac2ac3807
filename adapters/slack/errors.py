"""How Slack's refusals are read: what can't be helped, what may be tried again, what is not known."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError, SlackClientError

#: The place is gone, or the bot may not write there: trying again is no use.
NO_PLACE: Final = frozenset({
    "channel_not_found", "not_in_channel", "is_archived", "restricted_action",
    "restricted_action_thread_only_channel", "restricted_action_read_only_channel",
    "cannot_reply_to_message", "user_not_found", "cannot_dm_bot", "messages_tab_disabled", "missing_scope",
    "no_permission", "ekm_access_denied", "team_access_not_granted", "user_disabled", "thread_locked",
})  # fmt: skip
#: The thread's root is gone, or no thread can hang on it.
NO_THREAD: Final = frozenset({"invalid_thread_ts", "thread_not_found"})
#: The bot has no right to be there any more.
NO_TOKEN: Final = frozenset({
    "invalid_auth", "account_inactive", "token_revoked", "token_expired", "not_authed", "team_disabled",
    "org_login_required", "app_uninstalled",
})  # fmt: skip
#: What Slack finds too large or wrong in blocks; words alone still go.
BAD_BLOCKS: Final = frozenset({
    "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "invalid_arguments",
})  # fmt: skip
#: The message is not there (any more), or can't be changed.
GONE: Final = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "update_failed"})
#: A stream is still open there.
STREAMING: Final = "streaming_state_conflict"
_RATE: Final = frozenset({"ratelimited", "rate_limited", "accesslimited"})
_TRANSIENT: Final = _RATE | {
    "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org",
}  # fmt: skip


class NoPlace(Exception):
    """The reply can't be shown where it belongs; `code` is Slack's."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


class Unclear(Exception):
    """The call ended without an answer: it may have had its effect."""


class RateLimited(Unclear):
    """Refused for now, and without effect; `seconds` is when to try again."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"rate limited for {seconds:g} s")


def code_of(error: SlackApiError | NoPlace) -> str:
    """Slack's error code; empty where the answer was none of Slack's."""
    if isinstance(error, NoPlace):
        return error.code
    response = cast("Any", error.response)
    try:
        return str(response.get("error") or "")
    except (AttributeError, ValueError):
        return ""


def why(error: SlackApiError) -> list[str]:
    """Slack's own words about what it refused: paths and limits, no text of the message."""
    try:
        found = cast("Any", error.response).get("response_metadata") or {}
        return [str(line)[:200] for line in found.get("messages") or []][:5]
    except (AttributeError, ValueError):
        return []


def reason_of(error: Exception) -> str:
    """A word for the log about what `attempt` raises: the SDK's own message begins with an address."""
    if isinstance(error, SlackApiError | NoPlace):
        return code_of(error)
    return str(error)[:80] or type(error).__name__


async def attempt(call: Callable[[], Awaitable[Any]]) -> Any:
    """One call. Raises `Unclear` where it may have had an effect, `NoPlace`, or Slack's own error."""
    try:
        return await call()
    except SlackApiError as error:
        code, response = code_of(error), cast("Any", error.response)
        status = int(getattr(response, "status_code", 0) or 0)
        if code in NO_PLACE or code in NO_TOKEN:
            raise NoPlace(code) from error
        if code in _RATE or status == 429:
            raise RateLimited(retry_after(getattr(response, "headers", {}))) from error
        if code in _TRANSIENT or status >= 500 or not code:
            raise Unclear(code or str(status)) from error
        raise
    except (TimeoutError, ClientError, SlackClientError, OSError) as error:
        raise Unclear(type(error).__name__) from error


def retry_after(headers: Mapping[str, Any]) -> float:
    """Seconds of `Retry-After`; 1 where it says nothing that can be read."""
    for name, value in headers.items():
        if name.lower() == "retry-after":
            try:
                return max(0.0, float(value[0] if isinstance(value, list) else value))
            except (TypeError, ValueError, IndexError):
                return 1.0
    return 1.0
