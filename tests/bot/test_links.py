import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.links import LIFETIME, LinkError, Links, Target

TARGET = Target("w", "doc", "version", "chunk", 3, 17)


def test_round_trip() -> None:
    links = Links(b"secret", "https://kb.example")
    url = links.url(TARGET, "slack")
    assert url is not None
    assert url.startswith("https://kb.example/source/")
    assert links.read(url.rsplit("/", 1)[1]) == TARGET


def test_no_address_no_link() -> None:
    assert Links(b"secret", None).url(TARGET, "web") is None


def test_expiry() -> None:
    now = [1000.0]
    links = Links(b"secret", None, now=lambda: now[0])
    token = links.token(TARGET)
    now[0] += LIFETIME - 1
    assert links.read(token) == TARGET
    now[0] += 2
    with pytest.raises(LinkError, match="expired"):
        links.read(token)


def test_another_secret_is_refused() -> None:
    with pytest.raises(LinkError, match="not valid"):
        Links(b"other", None).read(Links(b"secret", None).token(TARGET))


@given(st.text(max_size=300))
def test_garbage_is_refused_and_never_crashes(token: str) -> None:
    with pytest.raises(LinkError):
        Links(b"secret", None).read(token)


@given(st.data())
def test_any_changed_character_is_refused(data: st.DataObject) -> None:
    links = Links(b"secret", None)
    token = links.token(TARGET)
    at = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters(codec="ascii", categories=["L", "N"]).filter(lambda c: c != token[at]))
    changed = token[:at] + other + token[at + 1 :]
    with contextlib.suppress(LinkError):
        assert links.read(changed) == TARGET  # spare bits of base64's last character


def test_an_address_of_this_machine_is_told_to_nobody_elsewhere() -> None:
    links = Links(b"secret", None)
    links.local_url = "http://127.0.0.1:8080"
    assert links.url(TARGET, "slack") is None
    assert links.url(TARGET, "teams") is None
    assert str(links.url(TARGET, "web")).startswith("http://127.0.0.1:8080/source/")
    assert str(links.url(TARGET, "cli")).startswith("http://127.0.0.1:8080/source/")
