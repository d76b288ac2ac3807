"""The name of every key in Redis, in one place."""

from __future__ import annotations

PREFIX = "footnote:"


def turn(turn_id: str) -> str:
    """One turn: its reply, sources and trace."""
    return f"{PREFIX}turn:{turn_id}"


def feedback(workspace: str) -> str:
    """Hash of thumbs, by turn and person."""
    return f"{PREFIX}feedback:{workspace}"


def transcript(conversation_key: str) -> str:
    """Sorted set of message ids by time."""
    return f"{PREFIX}transcript:{conversation_key}"


def transcript_messages(conversation_key: str) -> str:
    """Hash of messages by id."""
    return f"{PREFIX}transcript-messages:{conversation_key}"


def workspace_link(platform: str, tenant: str) -> str:
    """The workspace that a Slack team or Teams tenant is linked to."""
    return f"{PREFIX}link:{platform}:{tenant}"


def workspaces() -> str:
    """Set of all workspaces."""
    return f"{PREFIX}workspaces"


def settings(workspace: str) -> str:
    """Hash of a workspace's settings: `revision` and `values`."""
    return f"{PREFIX}settings:{workspace}"


def link_secret() -> str:
    """Signs source links where the environment sets no secret."""
    return f"{PREFIX}link-secret"
