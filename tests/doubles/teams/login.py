"""Where the bot gets its tokens: Entra's endpoints as MSAL calls them, and those of managed identities."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import parse_qsl

from aiohttp import web

from tests.doubles.clock import Clock
from tests.doubles.teams import limits
from tests.doubles.teams.errors import Json
from tests.doubles.teams.things import App
from tests.doubles.teams.world import World

Audience = Literal["connector", "graph"]
CONNECTOR_SCOPE: Final = "https://api.botframework.com/.default"
GRAPH_SCOPE: Final = "https://graph.microsoft.com/.default"
_AUDIENCES: Final[dict[str, Audience]] = {
    "https://api.botframework.com": "connector",
    "https://graph.microsoft.com": "graph",
}
_BOT_TENANT: Final = "botframework.com"


@dataclass
class Token:
    value: str
    audience: Audience
    #: A tenant's id, or "botframework.com".
    tenant: str
    expires: float


class Login:
    """`given` holds all tokens; `expire` makes them worthless, as if their time were over."""

    def __init__(self, app: App, world: World, clock: Clock) -> None:
        self._app, self._world, self._clock = app, world, clock
        self.given: dict[str, Token] = {}
        self.seconds = limits.TOKEN_SECONDS
        #: What an App Service's managed identity has in its environment as IDENTITY_HEADER.
        self.identity_header = "identity-header"
        #: Requests for a token by what came of them: "connector", "graph", or an error.
        self.requests: list[str] = []
        self._number = itertools.count(1)

    def give(self, audience: Audience, tenant: str = _BOT_TENANT) -> str:
        """A token without asking for it by HTTP."""
        value = f"opaque-{audience}-{next(self._number)}"
        self.given[value] = Token(value, audience, tenant, self._clock.now() + self.seconds)
        return value

    def expire(self, audience: Audience | None = None) -> None:
        for token in self.given.values():
            if audience in (None, token.audience):
                token.expires = 0.0

    def token_of(self, header: str, audience: Audience) -> Token | None:
        """The token that an Authorization header holds, where it is good for that."""
        scheme, _, value = header.partition(" ")
        token = self.given.get(value)
        if scheme.lower() != "bearer" or token is None or token.audience != audience:
            return None
        return token if token.expires > self._clock.now() else None

    def over(self, header: str, audience: Audience) -> bool:
        """The token was good for that, and is not any more."""
        token = self.given.get(header.partition(" ")[2])
        return token is not None and token.audience == audience

    # -- HTTP ----------------------------------------------------------------------------------

    async def serve(self, request: web.BaseRequest, base: str) -> web.Response:
        path = request.path
        if path == "/common/discovery/instance":
            asked = request.query.get("authorization_endpoint", "")
            tenant = asked.split("/")[3] if asked.count("/") >= 3 else "common"
            return web.json_response(
                {
                    "tenant_discovery_endpoint": f"{base}/{tenant}/v2.0/.well-known/openid-configuration",
                    "api-version": "1.1",
                    "metadata": [],
                }
            )
        if path == "/msi/token":
            return self._app_service(request)
        if path == "/metadata/identity/oauth2/token":
            return self._imds(request)
        tenant, _, rest = path.removeprefix("/").partition("/")
        if rest == "v2.0/.well-known/openid-configuration":
            return self._discovery(tenant, base)
        if rest == "oauth2/v2.0/token" and request.method == "POST":
            return await self._token(request, tenant)
        return web.Response(status=404)

    def _discovery(self, tenant: str, base: str) -> web.Response:
        if not self._known(tenant):
            return self._error(400, "invalid_tenant", f"AADSTS90002: Tenant '{tenant}' not found.")
        return web.json_response(
            {
                "token_endpoint": f"{base}/{tenant}/oauth2/v2.0/token",
                "authorization_endpoint": f"{base}/{tenant}/oauth2/v2.0/authorize",
                "jwks_uri": f"{base}/openid/keys",
                "issuer": f"{base}/{tenant}/v2.0",
                "tenant_region_scope": "EU",
            }
        )

    def _known(self, tenant: str) -> bool:
        return tenant == _BOT_TENANT or tenant in self._world.tenants

    async def _token(self, request: web.BaseRequest, tenant: str) -> web.Response:
        form = dict(parse_qsl((await request.read()).decode(), keep_blank_values=True))
        if not self._known(tenant):
            return self._error(400, "invalid_request", f"AADSTS90002: Tenant '{tenant}' not found.")
        if form.get("grant_type") != "client_credentials":
            return self._error(400, "unsupported_grant_type", "AADSTS70003: unsupported grant type.")
        if form.get("client_id") != self._app.id:
            return self._error(400, "unauthorized_client", "AADSTS700016: Application was not found.")
        if self._app.managed or form.get("client_secret") != self._app.password:
            return self._error(401, "invalid_client", "AADSTS7000215: Invalid client secret provided.")
        asked = form.get("scope", "").split()
        audience = _AUDIENCES.get(asked[0].removesuffix("/.default")) if len(asked) == 1 else None
        if audience is None or not asked[0].endswith("/.default"):
            return self._error(400, "invalid_scope", "AADSTS1002012: The scope is not valid.")
        own = self._app.tenant or _BOT_TENANT
        if audience == "connector" and tenant != own:
            return self._error(400, "unauthorized_client", "AADSTS700016: Application was not found.")
        if audience == "graph" and (tenant == _BOT_TENANT or not self._world.tenants[tenant].consented):
            return self._error(400, "unauthorized_client", "AADSTS700016: Application was not found.")
        return self._give(audience, tenant, {"ext_expires_in": self.seconds, "token_type": "Bearer"})

    def _app_service(self, request: web.BaseRequest) -> web.Response:
        if request.headers.get("X-IDENTITY-HEADER") != self.identity_header:
            return self._error(401, "unauthorized", "X-IDENTITY-HEADER is missing or wrong.")
        return self._managed(request)

    def _imds(self, request: web.BaseRequest) -> web.Response:
        if request.headers.get("Metadata", "").lower() != "true":
            return self._error(400, "bad_request_102", "Required metadata header not specified")
        return self._managed(request)

    def _managed(self, request: web.BaseRequest) -> web.Response:
        audience = _AUDIENCES.get(request.query.get("resource", "").rstrip("/"))
        if "api-version" not in request.query or audience is None:
            return self._error(400, "invalid_resource", "AADSTS500011: The resource was not found.")
        if not self._app.managed or request.query.get("client_id") != self._app.id:
            return self._error(400, "invalid_request", "Identity not found")
        expires = str(int(self._clock.now() + self.seconds))
        more = {"expires_on": expires, "resource": request.query["resource"], "token_type": "Bearer"}
        return self._give(audience, self._app.tenant or self._world.first_tenant, more)

    def _give(self, audience: Audience, tenant: str, more: Json) -> web.Response:
        self.requests.append(audience)
        token = self.give(audience, tenant)
        return web.json_response({"access_token": token, "expires_in": self.seconds, **more})

    def _error(self, status: int, code: str, message: str) -> web.Response:
        self.requests.append(code)
        return web.json_response({"error": code, "error_description": message}, status=status)
