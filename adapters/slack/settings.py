"""How this server reaches Slack, and Slack this server."""

from __future__ import annotations

from dataclasses import dataclass, field

API_URL = "https://slack.com/api/"


@dataclass(frozen=True)
class SlackSettings:
    """Socket Mode needs `app_token` and `bot_token`; HTTP needs `signing_secret`, and `bot_token` for one
    workspace or `client_id` and `client_secret` for many (OAuth)."""

    bot_token: str | None = field(default=None, repr=False)
    app_token: str | None = field(default=None, repr=False)
    signing_secret: str | None = field(default=None, repr=False)
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    #: Encrypt the tokens of installations; the first one writes, all read.
    token_keys: tuple[str, ...] = field(default=(), repr=False)
    #: Ends in a slash.
    api_url: str = API_URL
    #: Where people and Slack reach this server, without a slash at the end.
    public_url: str | None = None
    #: Answer through Slack's streaming where the workspace has it.
    streaming: bool = True
    #: Refuse to send what passes Slack's limits: for tests and development.
    checked: bool = False
    #: Seconds an outside call may take.
    timeout: float = 30.0
    #: Questions worked at the same time.
    concurrency: int = 16
