"""What an OpenAI-compatible server can't do, learned from its refusals.

Servers differ in which optional parameters they know, and say so with status 400 or 422. The
request is then sent again without, and the server is remembered for it.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import openai

from retrieval.models.errors import looks_too_long
from retrieval.models.openai_client import said

Format = Literal["json_schema", "json_object", "none"]

_NEXT: dict[Format, Format] = {"json_schema": "json_object", "json_object": "none"}
_FORMAT = re.compile(r"response_format|json_schema|json_object|structured|schema|grammar", re.IGNORECASE)
_OTHER_LIMIT = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


class Dialect:
    """`format` is how structured output is asked for, `limit` the name of the token limit."""

    def __init__(self, *, official: bool) -> None:
        self.format: Format = "json_schema"
        # OpenAI's reasoning models refuse the old name, many other servers don't know the new one.
        self.limit = "max_completion_tokens" if official else "max_tokens"
        self._unknown: set[str] = set()
        self._limit_changed = False

    def spoken(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request without what the server doesn't know."""
        return {name: value for name, value in request.items() if name not in self._unknown}

    def learn(self, error: openai.APIStatusError, sent: dict[str, Any]) -> bool:
        """Whether the request can be sent again, in another way than it was."""
        text = f"{error.param} {said(error)}"
        if error.status_code not in (400, 422) or looks_too_long(text):
            return False
        for name in ("stream_options", "reasoning_effort"):
            if name in sent and name in text:
                self._unknown.add(name)
                return True
        limit = next(name for name in _OTHER_LIMIT if name in sent)
        if limit in text:
            return self._change_limit(limit)
        if "response_format" in sent and _FORMAT.search(text):
            return self._change_format(sent["response_format"]["type"])
        return False

    def _change_limit(self, refused: str) -> bool:
        if refused == self.limit:
            if self._limit_changed:
                return False
            self.limit, self._limit_changed = _OTHER_LIMIT[refused], True
        return True

    def _change_format(self, refused: Format) -> bool:
        # Another call at the same time may have changed it already.
        if refused == self.format:
            self.format = _NEXT[refused]
        return True
