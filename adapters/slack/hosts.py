"""Where files that people share on Slack lie."""

from __future__ import annotations

from typing import Final

HOSTS: Final = ("slack.com", "slack-edge.com", "slack-files.com")
