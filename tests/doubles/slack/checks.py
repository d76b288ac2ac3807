"""Small checks that blocks and elements share. Each raises `Invalid` in Slack's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import urlsplit

from tests.doubles.slack import limits
from tests.doubles.slack.errors import Invalid, Json


def as_object(value: Any, where: str) -> Json:
    if not isinstance(value, dict):
        raise Invalid("must provide an object", where)
    return cast("Json", value)


def as_list(value: Any, where: str, *, least: int = 0, most: int) -> list[Any]:
    if not isinstance(value, list):
        raise Invalid("must provide an array", where)
    items = cast("list[Any]", value)
    if len(items) < least:
        raise Invalid(f"no fewer than {least} items allowed", where)
    if len(items) > most:
        raise Invalid(f"no more than {most} items allowed", where)
    return items


def required(holder: Json, name: str, where: str) -> Any:
    if holder.get(name) is None:
        raise Invalid(f"missing required field: {name}", where)
    return holder[name]


def string(value: Any, where: str, *, most: int, least: int = 0) -> str:
    if not isinstance(value, str):
        raise Invalid("must be a string", where)
    if len(value) < least:
        raise Invalid(f"must be more than {least - 1} characters", where)
    if len(value) > most:
        raise Invalid(f"must be less than {most + 1} characters", where)
    return value


def optional(holder: Json, name: str, where: str, *, most: int, least: int = 0) -> None:
    if holder.get(name) is not None:
        string(holder[name], f"{where}/{name}", most=most, least=least)


def one_of(holder: Json, name: str, where: str, values: Sequence[str], *, needed: bool = False) -> None:
    if holder.get(name) is None and not needed:
        return
    if required(holder, name, where) not in values:
        raise Invalid(f"must be one of: {', '.join(values)}", f"{where}/{name}")


def whole(holder: Json, name: str, where: str, least: int, most: int) -> None:
    value = holder.get(name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise Invalid(f"must be an integer from {least} to {most}", f"{where}/{name}")


def known(holder: Json, where: str, *names: str) -> None:
    """Slack refuses fields that it does not know."""
    for name in holder:
        if name not in names:
            raise Invalid(f"unsupported field: {name}", where)


def text(value: Any, where: str, *, most: int, plain: bool = False, least: int = 1) -> None:
    """A text object."""
    found = as_object(value, where)
    kinds = ("plain_text",) if plain else ("plain_text", "mrkdwn")
    one_of(found, "type", where, kinds, needed=True)
    string(required(found, "text", where), f"{where}/text", most=most, least=least)
    if found["type"] == "plain_text":
        known(found, where, "type", "text", "emoji")
    else:
        known(found, where, "type", "text", "verbatim")


def optional_text(holder: Json, name: str, where: str, *, most: int, plain: bool = True) -> None:
    if holder.get(name) is not None:
        text(holder[name], f"{where}/{name}", most=most, plain=plain)


def url(holder: Json, name: str, where: str, *, needed: bool = False, most: int = limits.URL) -> None:
    if holder.get(name) is None and not needed:
        return
    value = string(required(holder, name, where), f"{where}/{name}", most=most, least=1)
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise Invalid("must be a valid URL", f"{where}/{name}")
