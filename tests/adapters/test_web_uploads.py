"""Uploads of every shape."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientResponse, FormData
from hypothesis import given
from hypothesis import strategies as st

from adapters.ports import Refused
from adapters.web.uploads import tidy_name
from tests.adapters.fake_bot import FakeBot, page_of

BOUNDARY = "b0undary"


def multipart(*parts: bytes, end: bytes = b"--b0undary--\r\n") -> bytes:
    return b"".join(b"--b0undary\r\n" + part + b"\r\n" for part in parts) + end


def field(name: str, value: bytes) -> bytes:
    return f'Content-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value


def file_part(name: str, content: bytes = b"hello") -> bytes:
    disposition = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    return disposition.encode() + b"\r\nContent-Type: text/plain\r\n\r\n" + content


async def send(bot: FakeBot, spool: Path, data: Any, kind: str | None = None) -> tuple[ClientResponse, str]:
    headers = {"Content-Type": kind} if kind else None
    async with page_of(bot, spool) as page:
        response = await page.post("/api/documents", data=data, headers=headers)
        text = await response.text()
    assert not os.listdir(spool), "nothing is left in the spool"
    return response, text


async def send_raw(bot: FakeBot, spool: Path, data: bytes) -> tuple[ClientResponse, str]:
    return await send(bot, spool, data, f"multipart/form-data; boundary={BOUNDARY}")


async def test_files_with_their_options(tmp_path: Path) -> None:
    bot = FakeBot()
    big = b"x" * 3_000_000 + b"\r\n--b0undar is not the end"
    form = FormData()
    form.add_field("knowledge_base", "Handbook")
    form.add_field("labels", " hr, travel ,, ")
    form.add_field("same_name", "keep_both")
    form.add_field("unknown", "x" * 20_000)
    form.add_field("file", b"one", filename="one.md", content_type="text/markdown")
    form.add_field("file", big, filename="two.bin")
    form.add_field("file", b"", filename="empty.txt")
    response, text = await send(bot, tmp_path, form)
    assert response.status == 200
    assert len(json.loads(text)["items"]) == 3
    ((files, options),) = bot.uploads
    assert files == {"one.md": b"one", "two.bin": big, "empty.txt": b""}
    assert (options.knowledge_base, options.labels) == ("Handbook", ("hr", "travel"))
    assert (options.same_name, options.audience) == ("keep_both", "everyone")


async def test_names_beside_the_parts_carry_every_name(tmp_path: Path) -> None:
    names = ['a; b; "c".md', "über 100%25.md", "../../etc/passwd", "C:\\docs\\x.md"]
    bot = FakeBot()
    form = FormData()
    form.add_field("names", json.dumps(names))
    for name in names:
        form.add_field("file", name.encode(), filename="file")
    response, _ = await send(bot, tmp_path, form)
    assert response.status == 200
    (files, _), *_ = bot.uploads
    assert list(files) == ['a; b; "c".md', "über 100%25.md", "passwd", "x.md"]


@pytest.mark.filterwarnings("ignore::aiohttp.multipart.BadContentDispositionHeader")
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (multipart(), "no file"),
        (multipart(field("labels", b"hr")), "no file"),
        (multipart(file_part("")), "no file"),
        (multipart(file_part("a; b; c.md")), ""),
        (multipart(file_part("a.md"), end=b""), "broken"),
        (multipart(file_part("a.md"), end=b"--b0un"), "broken"),
        (multipart(file_part("a.md")).replace(b"b0undary", b"another"), "broken"),
        (multipart(b"Content-Disposition: form-data\r\n\r\nhr"), "no name"),
        (multipart(b"\r\n\r\n"), "no name"),
        (multipart(b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nhi\r\n--x--"), "parts"),
        (multipart(field("names", b'{"a":1}'), file_part("a.md")), "names"),
        (multipart(field("names", b"[["), file_part("a.md")), "broken"),
        (multipart(field("audience", b"all"), file_part("a.md")), "audience"),
        (multipart(field("labels", b"x" * 1_100_000)), "too long"),
        (b"", ""),
        (b"\x00" * 100_000, ""),
    ],
)  # fmt: skip
async def test_broken_uploads_are_refused_whole(tmp_path: Path, data: bytes, told: str) -> None:
    bot = FakeBot()
    response, text = await send_raw(bot, tmp_path, data)
    assert response.status == 400
    assert told in text
    assert not bot.uploads


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "multipart/form-data", "multipart/"])
async def test_what_is_no_multipart_is_refused(tmp_path: Path, kind: str) -> None:
    response, _ = await send(FakeBot(), tmp_path, b"x", kind)
    assert response.status == 400


async def test_a_header_without_bounds_is_refused(tmp_path: Path) -> None:
    response, _ = await send_raw(FakeBot(), tmp_path, multipart(b"X: " + b"y" * 100_000 + b"\r\n\r\nz"))
    assert response.status == 400


async def test_a_full_disk_is_told(tmp_path: Path) -> None:
    bot = FakeBot(refuse={"upload": OSError(errno.ENOSPC, "No space left on device")})
    response, text = await send_raw(bot, tmp_path, multipart(file_part("a.md")))
    assert response.status == 507
    assert "No space left on device" in text


async def test_what_the_bot_refuses_is_told(tmp_path: Path) -> None:
    bot = FakeBot(refuse={"upload": Refused("Only admins can add documents here.")})
    response, text = await send_raw(bot, tmp_path, multipart(file_part("a.md")))
    assert response.status == 409
    assert json.loads(text) == {"error": "Only admins can add documents here."}


@given(st.text(max_size=400))
def test_any_name_becomes_one_that_can_be_shown(name: str) -> None:
    tidy = tidy_name(name)
    assert 0 < len(tidy) <= 200
    assert tidy.isprintable()
    assert "/" not in tidy
    assert "\\" not in tidy
    assert tidy_name(tidy) == tidy


@pytest.mark.parametrize(
    ("name", "tidy"),
    [
        ("a/b/Report 1.pdf", "Report 1.pdf"), ("C:\\x\\y.docx", "y.docx"), ("", "unnamed"), ("..", ".."),
        ("dir/", "dir"), ("x\x00\x1f\u202ey.md", "xy.md"), ("n" * 300 + ".pdf", "n" * 196 + ".pdf"),
        ("n" * 300, "n" * 200), ("\ud800.md", "?.md"), ("東京.txt", "東京.txt"),
    ],
)  # fmt: skip
def test_names(name: str, tidy: str) -> None:
    assert tidy_name(name) == tidy
