"""What the edits of a message raise on Slack."""

from __future__ import annotations

from typing import Final

from slack_sdk.errors import SlackApiError

from adapters.edits import Failures
from adapters.slack.errors import NoPlace, Unclear, reason_of

FAILURES: Final = Failures(nowhere=(NoPlace, SlackApiError), unclear=Unclear, reason=reason_of)
