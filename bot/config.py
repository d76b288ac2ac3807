"""What the environment says: the whole configuration, read once, told by `kb doctor`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_data_dir() -> Path:
    """`$XDG_DATA_HOME/footnote`, else `~/.local/share/footnote`."""
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "footnote"


class Config(BaseSettings):
    """One attribute an environment variable of the same name in capitals; `.env` is read too.

    Empty values count as not set, as they do in Compose files.
    """

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True, populate_by_name=True
    )

    # -- where things are kept -------------------------------------------------------------
    #: Folder of the embedded index, private Valkey and original files. One process owns it.
    data_dir: Path = Field(default_factory=default_data_dir)
    #: Prepared local models, about 25 MB; may be shared by data folders. Empty: in the data folder.
    model_cache_dir: Path | None = None
    #: Empty: a private Valkey in the data folder.
    redis_url: SecretStr | None = None
    #: Empty: Qdrant Edge in the data folder.
    qdrant_url: str | None = None
    qdrant_api_key: SecretStr | None = None
    qdrant_collection: str = "footnote"
    #: Empty: a folder in the data folder. Else `s3://bucket/prefix` and its like.
    files_url: str | None = None

    # -- models: `provider:model`; empty means Gemini where its key is set, else local -----
    answer_model: str | None = None
    rephrase_model: str | None = None
    summary_model: str | None = None
    embedding_model: str | None = None
    #: `cohere:rerank-v4.0-fast`, `bedrock:...`, `scaleway:...`; empty: off.
    rerank_model: str | None = None
    gemini_api_key: SecretStr | None = None
    #: Another address of the Gemini API, for a proxy.
    gemini_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    #: Any OpenAI-compatible server: vLLM, Ollama, ...
    openai_base_url: str | None = None
    #: Ends in /v1; empty: Scaleway's own.
    scw_api_base: str | None = None
    scw_api_key: SecretStr | None = None
    cohere_api_key: SecretStr | None = None
    #: Without /v2.
    cohere_base_url: str | None = None
    aws_region: str | None = None
    model_timeout: float = Field(default=60.0, gt=0, le=600, description="seconds a model call")

    # -- what is possible (then message, knowledge base and workspace choose) --------------
    feature_flag_doc_summaries: bool = True
    feature_flag_rephrase: bool = True
    feature_flag_reranking: bool = True

    # -- Slack: see docs/slack.md ------------------------------------------------------------
    #: xoxb-...; for one workspace.
    slack_bot_token: SecretStr | None = None
    #: xapp-..., with the scope connections:write: Socket Mode, no address needed.
    slack_app_token: SecretStr | None = None
    #: For requests over HTTP, at PUBLIC_URL/slack/events.
    slack_signing_secret: SecretStr | None = None
    #: For many workspaces, which install the app at PUBLIC_URL/slack/install.
    slack_client_id: str | None = None
    slack_client_secret: SecretStr | None = None
    #: Encrypt the workspaces' tokens: Fernet keys, separated by commas; the first one writes, all read.
    slack_token_keys: SecretStr | None = None
    slack_api_url: str = "https://slack.com/api/"
    #: Stream answers where Slack has it; else messages are edited.
    slack_streaming: bool = True

    # -- Microsoft Teams: see docs/teams.md --------------------------------------------------
    #: The Microsoft App ID of the bot's registration.
    teams_app_id: str | None = None
    #: Its client secret; none for a managed identity.
    teams_app_password: SecretStr | None = None
    teams_app_type: Literal["SingleTenant", "MultiTenant", "UserAssignedMSI"] = "SingleTenant"
    #: The directory that the registration is in.
    teams_app_tenant: str | None = None
    #: Tenants whose people may use the bot, separated by commas; empty: all that have installed it.
    teams_allowed_tenants: str = ""
    #: Object ids of the admins, separated by commas; empty: the owners of teams, each in their team.
    teams_admins: str = ""
    #: Ask Microsoft Graph for threads, files and owners, where a team or chat consented.
    teams_graph: bool = True
    #: Stream answers in personal chats; else they come as one message.
    teams_streaming: bool = True
    #: For Microsoft's Agents Playground on this machine: no credentials.
    teams_playground: bool = False
    #: Other addresses than Microsoft's, for a proxy or for tests.
    teams_login_url: str = "https://login.microsoftonline.com"
    teams_openid_url: str | None = None
    teams_graph_url: str = "https://graph.microsoft.com/v1.0"
    #: An origin beside Microsoft's hosts that files may be fetched from.
    teams_file_origin: str | None = None

    # -- limits ----------------------------------------------------------------------------
    max_file_mb: int = Field(default=100, ge=1, le=2048)
    max_pages: int = Field(default=5000, ge=1)
    parse_timeout: float = Field(default=120.0, gt=0, description="seconds a file")
    parse_memory_mb: int = Field(default=1024, ge=256)
    ingest_concurrency: int = Field(default=2, ge=1, le=64)

    # -- serving ---------------------------------------------------------------------------
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    #: Where people reach this server, e.g. `https://kb.example.com`; makes citations clickable.
    public_url: str | None = None
    #: Signs source links; empty: made once and kept in the data folder.
    link_secret: SecretStr | None = None
    #: Empty: info while serving, else warning.
    log_level: Literal["debug", "info", "warning", "error"] | None = None
    log_format: Literal["auto", "json", "console"] = "auto"

    @field_validator("public_url")
    @classmethod
    def _no_trailing_slash(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not value.startswith(("https://", "http://")):
            raise ValueError("PUBLIC_URL must begin with https:// (or http:// for a test)")
        return value.rstrip("/")
