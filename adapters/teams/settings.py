"""How Teams reaches this server, and this server Teams."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class TeamsSettings:
    """An app registration: with a secret or a managed identity, for one tenant or for many."""

    #: Empty: no credentials, which only a server on loopback may do.
    app_id: str = ""
    app_password: str | None = field(default=None, repr=False)
    #: "SingleTenant", "MultiTenant" or "UserAssignedMSI".
    app_type: str = "MultiTenant"
    #: Of the app registration, where it is for one tenant.
    app_tenant: str | None = None
    #: Where tokens are had.
    login_url: str = "https://login.microsoftonline.com"
    #: Tenants whose people may use the bot, in small letters; empty: all.
    allowed_tenants: frozenset[str] = frozenset()
    #: Where keys of the Bot Connector are described; None: Microsoft's own.
    openid_metadata_url: str | None = None
    #: An origin beside Microsoft's hosts that files may lie at: a proxy, for instance.
    file_origin: str | None = None
    #: Microsoft Graph, where a team or chat consented; None: not asked.
    graph_url: str | None = None
    public_url: str | None = None
    #: People (Entra object ids, in small letters) who are admins; empty: owners of teams, in their team.
    admins: frozenset[str] = frozenset()
    #: Stream answers in personal chats.
    streaming: bool = True
    #: Seconds an outside call may take.
    timeout: float = 30.0
    #: Questions worked at the same time.
    concurrency: int = 16
