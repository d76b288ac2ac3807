"""Tokens at rest: encrypted with the first of the keys, readable with each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


class Unreadable(Exception):
    """Not encrypted with any of the keys."""


@dataclass(frozen=True)
class Opened:
    text: str
    #: Encrypted with another key than the first one: to be written anew.
    old_key: bool


class Encryption:
    """Fernet (AES-128-CBC and HMAC-SHA256), https://github.com/fernet/spec. To change the key, put a new
    one in front; the old one may go once `kb` has read every installation."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Raises `ValueError` for no key, or one that is none: 32 bytes in URL-safe base64."""
        fernets = [Fernet(key.encode()) for key in keys]
        if not fernets:
            raise ValueError("at least one key is needed")
        self._first, self._all = fernets[0], MultiFernet(fernets)

    def seal(self, text: str) -> str:
        return self._first.encrypt(text.encode()).decode()

    def open(self, sealed: str) -> Opened:
        """Raises `Unreadable`."""
        try:
            return Opened(self._first.decrypt(sealed.encode()).decode(), old_key=False)
        except InvalidToken:
            pass
        try:
            return Opened(self._all.decrypt(sealed.encode()).decode(), old_key=True)
        except InvalidToken:
            raise Unreadable from None
