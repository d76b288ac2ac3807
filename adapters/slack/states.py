"""The `state` of an installation on its way through Slack: works once, and for ten minutes.

It is encrypted and carries its own time, so that nothing is stored for those who only look at the
page; only a used one is remembered, until it would have expired.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from time import time
from typing import Any, Final

from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore

from adapters.durable import Notes
from adapters.slack.encryption import Encryption, Unreadable

#: Seconds.
EXPIRES: Final = 600
#: Seconds by which the clocks of two servers may differ.
_CLOCKS: Final = 60
_KIND: Final = "state"


class States(AsyncOAuthStateStore):
    def __init__(self, notes: Notes, encryption: Encryption, *, clock: Callable[[], float] = time) -> None:
        self._notes, self._encryption, self._clock = notes, encryption, clock

    @property
    def logger(self) -> logging.Logger:
        return logging.getLogger(__name__)

    async def async_issue(self, *_: Any, **__: Any) -> str:
        sealed = self._encryption.seal(f"{_KIND}:{secrets.token_urlsafe(24)}:{int(self._clock())}")
        return sealed.rstrip("=")  # as a cookie's value it needs no quotes then

    async def async_consume(self, state: str) -> bool:
        try:
            kind, nonce, issued = self._encryption.open(state + "=" * (-len(state) % 4)).text.split(":")
            age = self._clock() - int(issued)
        except (Unreadable, ValueError):
            return False
        if kind != _KIND or not -_CLOCKS <= age <= EXPIRES:
            return False
        return await self._notes.claim(f"slack-state:{nonce}", seconds=2 * EXPIRES)
