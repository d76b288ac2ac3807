"""The keys by which a bot knows that it is Teams: OpenID metadata, JWKS, and signed tokens."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm

from tests.doubles.clock import Clock
from tests.doubles.teams.errors import Json
from tests.doubles.teams.things import App

ISSUER: Final = "https://api.botframework.com"
_HOUR: Final = 3600.0


@lru_cache(maxsize=8)
def private_key(number: int) -> RSAPrivateKey:
    """Made once a process, since that takes a while."""
    return generate_private_key(public_exponent=65537, key_size=2048)


def public_pem(key: RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


class Keys:
    """`published` are the keys that the JWKS names; the last of them signs."""

    def __init__(self, app: App, clock: Clock) -> None:
        self._app, self._clock = app, clock
        self._made = 1
        self.published = ["key-1"]
        self.endorsements = ["msteams"]
        #: How often each of the two documents was fetched.
        self.metadata_fetches = self.jwks_fetches = 0

    @property
    def signing(self) -> str:
        return self.published[-1]

    def rotate(self, *, forget: bool = False) -> str:
        """Sign with a new key; `forget`: the JWKS names the former ones no longer. Gives its kid."""
        self._made += 1
        kid = f"key-{self._made}"
        self.published = [kid] if forget else [*self.published, kid]
        return kid

    def metadata(self, base: str) -> Json:
        self.metadata_fetches += 1
        return {
            "issuer": ISSUER,
            "authorization_endpoint": "https://invalid.botframework.com",
            "jwks_uri": f"{base}/openid/keys",
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["private_key_jwt"],
        }

    def jwks(self) -> Json:
        self.jwks_fetches += 1
        return {"keys": [self._jwk(kid) for kid in self.published]}

    def _jwk(self, kid: str) -> Json:
        public = RSAAlgorithm.to_jwk(private_key(int(kid.removeprefix("key-"))).public_key())
        more = {"kid": kid, "x5t": kid, "use": "sig", "endorsements": self.endorsements}
        return {**json.loads(public), **more}

    def claims(self, service_url: str, **other: Any) -> Json:
        """Of a token that Teams would give; None as a value leaves a claim out.

        Times are real ones, since whoever checks them has no other clock."""
        now = Clock().now()
        usual: Json = {
            "serviceurl": service_url,
            "iss": ISSUER,
            "aud": self._app.id,
            "nbf": int(now - 60),
            "iat": int(now - 60),
            "exp": int(now + _HOUR),
        }
        return {name: value for name, value in (usual | other).items() if value is not None}

    def sign(self, claims: Json, *, kid: str | None = None, key: RSAPrivateKey | None = None) -> str:
        kid = kid or self.signing
        key = key or private_key(int(kid.removeprefix("key-")))
        return jwt.encode(claims, key, algorithm="RS256", headers={"kid": kid, "x5t": kid})
