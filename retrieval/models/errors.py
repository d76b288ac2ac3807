"""What went wrong with a provider, as one `ModelError` with a sentence for people.

The sentences never hold what the provider wrote: it may repeat the key or the prompt.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Generator
from contextlib import contextmanager

from retrieval.models.protocol import ErrorKind, ModelError
from retrieval.models.retry import Failure
from retrieval.models.spec import Spec

_TOO_LONG = re.compile(
    r"context.?(length|window)|maximum context|token (count|limit)|too (long|large|many (input )?tokens)"
    r"|(exceed|longer than|maximum|max).{0,40}\b(tokens|length|batch)\b|input length",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Za-z][A-Za-z_]{2,39}")


class BadAnswer(Exception):
    """The provider's answer breaks its own protocol: no JSON, fields missing, a stream cut short."""


@contextmanager
def decoding() -> Generator[None]:
    """Around an SDK's call: what it raises over an answer that it can't decode is a `BadAnswer`."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise BadAnswer(type(error).__name__) from None


def from_status(
    spec: Spec, status: int, *, text: str = "", code: str = "", after: float | None = None
) -> Failure:
    """What an HTTP status means. `text` is what the provider wrote: looked at, never repeated."""
    detail = f"HTTP {status}, {code}" if _CODE.fullmatch(code) else f"HTTP {status}"
    if status in (400, 413, 422) and looks_too_long(text):
        return too_long(spec)
    if status in (401, 403):
        return Failure(
            _error(spec, "misconfigured", f"{spec.label} refused the key ({detail}). {_check_key(spec)}")
        )
    if status == 404 or (
        status in (400, 422) and re.search(r"model.{0,80}not (be )?found|unknown model", text, re.I)
    ):
        message = (
            f"{spec.label} doesn't know the model {spec.model} ({detail}). Check its name and the address."
        )
        return Failure(_error(spec, "misconfigured", message))
    if status == 429:
        return _rate_limited(spec, detail, after)
    if status in (408, 504):
        return Failure(_error(spec, "timeout", f"{spec.label} took too long ({detail})."), again=True)
    if status >= 500:
        message = f"{spec.label} is not available right now ({detail})."
        return Failure(_error(spec, "unavailable", message, after), again=True)
    return Failure(_error(spec, "misconfigured", f"{spec.label} did not accept the request ({detail})."))


def timed_out(spec: Spec) -> Failure:
    return Failure(_error(spec, "timeout", f"{spec.label} did not answer in time."), again=True)


def unreachable(spec: Spec) -> Failure:
    message = f"{spec.label} can't be reached. Check the network and {spec.address}."
    return Failure(_error(spec, "unavailable", message), again=True)


def bad_answer(spec: Spec) -> Failure:
    return Failure(_error(spec, "unavailable", f"{spec.label} sent a broken answer."), again=True)


def too_long(spec: Spec) -> Failure:
    return Failure(_error(spec, "too_long", f"The text is too long for {spec}."))


def bad_key(spec: Spec) -> Failure:
    return Failure(_error(spec, "misconfigured", f"{spec.label} refused the key. {_check_key(spec)}"))


def no_credit(spec: Spec) -> Failure:
    message = f"The quota of this {spec.label} account is used up. Check its plan and billing."
    return Failure(_error(spec, "misconfigured", message))


def refused(spec: Spec, reason: str = "") -> ModelError:
    """The safety filter stopped it. `reason` is the provider's code, such as SAFETY."""
    detail = f" ({reason})" if _CODE.fullmatch(reason) else ""
    return _error(spec, "refused", f"{spec.label} declined to answer this{detail}.")


def invalid_output(spec: Spec, message: str) -> ModelError:
    return _error(spec, "invalid_output", message)


def looks_too_long(text: str) -> bool:
    return bool(_TOO_LONG.search(text))


def quiet(*loggers: str) -> None:
    """Keep an SDK's debug and info logs out: they hold prompts, documents and addresses."""
    for name in loggers:
        logger = logging.getLogger(name)
        if logger.level < logging.WARNING:
            logger.setLevel(logging.WARNING)


def _rate_limited(spec: Spec, detail: str, after: float | None) -> Failure:
    wait = f" Try again in {_duration(after)}." if after else " Try again in a moment."
    message = f"{spec.label} is receiving too many requests ({detail}).{wait}"
    return Failure(_error(spec, "rate_limited", message, after), again=True)


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "hour"), (60, "minute")):
        if seconds > size:
            count = round(seconds / size)
            return f"{count} {unit}{'s' if count != 1 else ''}"
    count = max(1, round(seconds))
    return f"{count} second{'s' if count != 1 else ''}"


def _check_key(spec: Spec) -> str:
    return f"Check {spec.key}." if spec.key else ""


def _error(spec: Spec, kind: ErrorKind, message: str, after: float | None = None) -> ModelError:
    return ModelError(kind, message, model=str(spec), retry_after=after)
