"""Authorization headers that no bot may take, one of each kind."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import jwt

from tests.doubles.teams.keys import ISSUER, Keys, private_key, public_pem
from tests.doubles.teams.things import App


def _encoded(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def bad_headers(keys: Keys, app: App, service_url: str) -> dict[str, str | None]:
    """By kind; None stands for a request without the header."""

    def signed(**claims: Any) -> str:
        return f"Bearer {keys.sign(keys.claims(service_url, **claims))}"

    good = keys.claims(service_url)
    now = int(good["iat"])
    head, body, signature = keys.sign(good).split(".")
    public = public_pem(private_key(int(keys.signing.removeprefix("key-"))))
    confused = f"{_encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': keys.signing})}.{body}"
    mac = hmac.new(public, confused.encode(), hashlib.sha256).digest()
    altered = _encoded({**good, "aud": app.id, "appid": "other"})
    return {
        "expired": signed(exp=now - 3600, nbf=now - 7200, iat=now - 7200),
        "not yet valid": signed(nbf=now + 3600, exp=now + 7200),
        "wrong audience": signed(aud="99999999-2222-4333-8444-555555555555"),
        "no audience": signed(aud=None),
        "wrong issuer": signed(iss="https://sts.windows.net/72f988bf-86f1-41af-91ab-2d7cd011db47/"),
        "issuer alike": signed(iss=f"{ISSUER}.example.com"),
        "no issuer": signed(iss=None),
        "another serviceurl": signed(serviceurl="https://smba.example.com/emea/"),
        "no serviceurl": signed(serviceurl=None),
        "no expiry": signed(exp=None),
        "wrong key": f"Bearer {keys.sign(good, key=private_key(99))}",
        "unknown kid": f"Bearer {keys.sign(good, kid='key-98', key=private_key(98))}",
        "no kid": f"Bearer {jwt.encode(good, private_key(99), algorithm='RS256')}",
        "alg none": f"Bearer {_encoded({'alg': 'none', 'typ': 'JWT', 'kid': keys.signing})}.{body}.",
        "HS256 with the public key": f"Bearer {confused}.{_encoded(mac)}",
        "altered": f"Bearer {head}.{altered}.{signature}",
        "without signature": f"Bearer {head}.{body}",
        "garbage": "Bearer not-a-token",
        "garbage in three parts": "Bearer a.b.c",
        "empty token": "Bearer ",
        "another scheme": "Basic dXNlcjpwYXNzd29yZA==",
        "empty": "",
        "missing": None,
    }
