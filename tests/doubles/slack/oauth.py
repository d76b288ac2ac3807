"""Installing and leaving: oauth.v2.access with rotation, auth.revoke, apps.*."""

from __future__ import annotations

import base64

from tests.doubles.slack.api import Call, method
from tests.doubles.slack.core import Core
from tests.doubles.slack.errors import Json, SlackError
from tests.doubles.slack.things import Token

LIFETIME = 43_200


def consent(core: Core, team: str) -> str:
    """A person agrees to install the app. Gives the code that comes to the redirect URL."""
    code = core.world.secret("code")
    core.oauth_codes[code] = team
    return code


def _granted(core: Core, team_id: str) -> Json:
    team = core.world.teams[team_id]
    team.installed = True
    token = Token(core.world.secret("xoxb"), team_id, scopes=core.app.scopes)
    made: Json = {
        "access_token": token.value,
        "token_type": "bot",
        "scope": ",".join(sorted(core.app.scopes)),
        "bot_user_id": team.bot_user,
        "app_id": core.app.id,
        "team": {"id": team.id, "name": team.name},
        "enterprise": {"id": team.enterprise, "name": team.enterprise} if team.enterprise else None,
        "authed_user": {"id": next((u.id for u in core.world.users.values() if u.admin), team.bot_user)},
        "is_enterprise_install": False,
    }
    if core.app.rotation:
        token.expires = core.clock.now() + LIFETIME
        refresh = core.world.secret("xoxe-1")
        core.refresh_tokens[refresh] = team_id
        made |= {"expires_in": LIFETIME, "refresh_token": refresh}
        made["access_token"] = token.value = f"xoxe.{token.value}"
    core.world.tokens[token.value] = token
    return made


@method("oauth.v2.access", token="none")
def oauth_access(call: Call) -> Json:
    core = call.slack
    if call.get("client_id") != core.app.client_id:
        raise SlackError("invalid_client_id")
    if call.get("client_secret") != core.app.client_secret:
        raise SlackError("bad_client_secret")
    if call.get("grant_type") == "refresh_token":
        refresh = call.get("refresh_token")
        team = core.refresh_tokens.pop(refresh, None)
        if team is None or not core.world.teams[team].installed:
            raise SlackError("invalid_refresh_token")
        core.used_refresh_tokens.add(refresh)
        return _granted(core, team)
    team = core.oauth_codes.pop(call.get("code"), None)
    if team is None:
        raise SlackError("invalid_code")
    return _granted(core, team)


def basic(header: str) -> Json:
    """slack_sdk sends the client's id and secret as HTTP Basic credentials."""
    if not header.startswith("Basic "):
        return {}
    id, _, secret = base64.b64decode(header[6:]).decode().partition(":")
    return {"client_id": id, "client_secret": secret}


@method("auth.revoke")
def auth_revoke(call: Call) -> Json:
    if not call.flag("test"):
        call.token.revoked = True
    return {"revoked": not call.flag("test")}


@method("apps.uninstall")
def apps_uninstall(call: Call) -> Json:
    app = call.slack.app
    if (call.get("client_id"), call.get("client_secret")) != (app.client_id, app.client_secret):
        raise SlackError("bad_client_secret")
    for token in call.slack.world.tokens.values():
        if token.team == call.team.id:
            token.revoked = True
    call.slack.publish(call.team, {"type": "app_uninstalled", "event_ts": call.slack.world.new_ts()})
    call.team.installed = False
    return {}


@method("apps.connections.open", token="app")
def connections_open(call: Call) -> Json:
    return {"url": call.slack.sockets.ticket()}
