"""Signed, expiring links to one passage."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import cast

from redis.asyncio import Redis

from bot import keys

#: Platforms whose people sit at this machine.
_LOCAL = ("web", "cli")
#: Seconds that a link opens for.
LIFETIME = 30 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Target:
    """The passage that a link opens, and where in it the cited words stand."""

    workspace: str
    document_id: str
    version_id: str
    chunk_id: str
    start: int = 0
    end: int = 0


class LinkError(Exception):
    """Forged, garbled or expired; the message says which, for a person."""


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Links:
    """Makes and reads tokens. HMAC-SHA256 over the payload, cut to 128 bits."""

    def __init__(self, secret: bytes, base_url: str | None, now: Callable[[], float] = time.time) -> None:
        self._secret, self._now = secret, now
        self.base_url = base_url
        #: Of a server that only this machine reaches: for its own page and terminal.
        self.local_url: str | None = None

    def token(self, target: Target) -> str:
        payload = [*astuple(target), int(self._now()) + LIFETIME]
        body = json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()
        return f"{_encode(body)}.{self._sign(body)}"

    def url(self, target: Target, platform: str) -> str | None:
        """None where those who read it on `platform` could not open it."""
        base = self.base_url or (self.local_url if platform in _LOCAL else None)
        return f"{base}/source/{self.token(target)}" if base else None

    def read(self, token: str) -> Target:
        try:
            text, signature = token.split(".")
            body = _decode(text)
        except ValueError:
            raise LinkError("This link is incomplete. Open it again from the answer.") from None
        if not hmac.compare_digest(self._sign(body).encode(), signature.encode("utf-8", "replace")):
            raise LinkError("This link is not valid. Open it again from the answer.")
        *target, expires = json.loads(body)
        if expires < self._now():
            raise LinkError("This link has expired. Ask again to get a new one.")
        return Target(*target)

    def _sign(self, body: bytes) -> str:
        return _encode(hmac.digest(self._secret, b"source-link/1:" + body, hashlib.sha256)[:16])


async def shared_secret(redis: Redis, configured: str | None) -> bytes:
    """The configured secret, else one that all processes of this Redis share."""
    if configured:
        return configured.encode()
    await redis.set(keys.link_secret(), secrets.token_hex(32), nx=True)
    return cast("bytes", await redis.get(keys.link_secret()))
