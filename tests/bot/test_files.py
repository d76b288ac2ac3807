"""The same promises of the file store, for a folder and for S3."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import resource
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from obstore.exceptions import GenericError
from obstore.store import LocalStore

from bot.config import Config
from bot.files import PART_BYTES, Files, StorageError
from retrieval.documents import ParsedDocument, Section
from tests.doubles.s3 import KEY, S3Double

PARSED = ParsedDocument(sections=(Section(markdown="Zwölf Boxkämpfer 😀" * 99),), parser="x/1")


@pytest.fixture
async def s3(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[S3Double]:
    async with S3Double("bucket") as double:
        monkeypatch.setenv("AWS_ENDPOINT_URL", double.url)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_REGION", "eu-central-1")
        yield double


@pytest.fixture(params=["folder", "s3"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    if request.param == "folder":
        return Files.open(Config(data_dir=tmp_path / "data"))
    request.getfixturevalue("s3")
    return Files.open(Config(files_url="s3://bucket/some/prefix"))


async def names(files: Files) -> list[tuple[str, str, str]]:
    return sorted([(f.kind, f.workspace, f.version_id) async for f in files.list()])


@pytest.mark.parametrize("size", [1, 1000, 2 * PART_BYTES + 17])
async def test_an_original_comes_back_as_it_was(files: Files, tmp_path: Path, size: int) -> None:
    data = random.Random(size).randbytes(size)
    source = tmp_path / "source"
    source.write_bytes(data)
    await files.put_original("acme", "v1", source)
    source.unlink()
    async with files.original("acme", "v1") as path:
        assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(data).digest()
    assert await files.read_original("acme", "v1", length=10) == data[:10]
    assert await files.read_original("acme", "v1", start=size // 2, length=size) == data[size // 2 :]


async def test_parsed_text_comes_back_as_it_was_and_takes_less_room(files: Files) -> None:
    await files.put_parsed("acme", "v1", PARSED)
    assert await files.parsed("acme", "v1") == PARSED


async def test_what_is_missing_is_missing(files: Files, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await files.parsed("acme", "v1")
    with pytest.raises(FileNotFoundError):
        await files.read_original("acme", "v1", length=1)
    with pytest.raises(FileNotFoundError):
        await files.copy_original("acme", "v1", "v2")
    with pytest.raises(FileNotFoundError):
        async with files.original("acme", "v1"):
            pass
    with pytest.raises(FileNotFoundError):
        await files.put_original("acme", "v1", tmp_path / "none")
    await files.delete_version("acme", "v1")


async def test_listing_copying_and_deleting(files: Files, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"data")
    await files.put_original("acme", "v1", source)
    await files.put_original("globex", "v3", source)
    await files.put_parsed("acme", "v1", PARSED)
    await files.copy_original("acme", "v1", "v2")
    before = datetime.now(UTC) + timedelta(minutes=1)
    assert [f async for f in files.list() if f.modified > before] == []
    assert await names(files) == [
        ("originals", "acme", "v1"),
        ("originals", "acme", "v2"),
        ("originals", "globex", "v3"),
        ("parsed", "acme", "v1"),
    ]
    await files.delete_version("acme", "v1")
    assert await names(files) == [("originals", "acme", "v2"), ("originals", "globex", "v3")]
    assert await files.read_original("acme", "v2", length=9) == b"data"
    await files.check()


@pytest.mark.parametrize("name", ["", ".", "..", "../up", "a/b", "a b", "é", "-rf", "a\x00", "x" * 200])
async def test_only_ids_become_paths(files: Files, tmp_path: Path, name: str) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"data")
    with pytest.raises(ValueError, match="not an id"):
        await files.put_original(name, "v1", source)
    with pytest.raises(ValueError, match="not an id"):
        await files.put_original("acme", name, source)


async def test_s3_that_is_busy_is_asked_again(s3: S3Double) -> None:
    files = Files.open(Config(files_url="s3://bucket"))
    s3.busy = 2
    await files.put_parsed("acme", "v1", PARSED)
    assert list(s3.objects) == ["parsed/acme/v1.json.gz"]


async def test_s3_that_refuses_is_an_error_for_people(
    s3: S3Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    files = Files.open(Config(files_url="s3://bucket"))
    with pytest.raises(StorageError, match="can't be reached right now") as caught:
        await files.put_parsed("acme", "v1", PARSED)
    assert "secret" not in caught.value.detail


def test_an_address_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        Files.open(Config(files_url="nonsense://bucket"))


@pytest.mark.parametrize("form", ["{}", "file://{}"])
async def test_a_folder_may_be_named(tmp_path: Path, form: str) -> None:
    files = Files.open(Config(files_url=form.format(tmp_path / "my files")))
    await files.put_parsed("acme", "v1", PARSED)
    assert (tmp_path / "my files/parsed/acme/v1.json.gz").exists()


async def test_nothing_is_written_after_a_cancellation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the files of a deleted document might come back."""
    began, go = threading.Event(), threading.Event()
    put = LocalStore.put

    def slow(self: LocalStore, *args: Any, **options: Any) -> Any:
        began.set()
        go.wait()
        return put(self, *args, **options)

    monkeypatch.setattr(LocalStore, "put", slow)
    files = Files.open(Config(files_url=str(tmp_path)))
    writing = asyncio.create_task(files.put_parsed("acme", "v1", PARSED))
    await asyncio.to_thread(began.wait)
    writing.cancel()
    await asyncio.sleep(0.01)
    assert not writing.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await files.delete_version("acme", "v1")
    assert await names(files) == []


# -- trouble with the disk ----------------------------------------------------------------------


async def test_what_a_broken_write_left_is_removed(tmp_path: Path) -> None:
    files = Files.open(Config(files_url=str(tmp_path)))
    await files.put_parsed("acme", "v1", PARSED)
    left = tmp_path / "originals" / "acme" / "v2#1"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half a secret")
    assert await files.remove_partial(datetime.now(UTC) - timedelta(hours=1)) == 0
    assert await files.remove_partial(datetime.now(UTC) + timedelta(seconds=1)) == 1
    assert not left.exists()
    assert await names(files) == [("parsed", "acme", "v1")]


FULL = """
    import asyncio, resource, sys
    from pathlib import Path
    from bot.config import Config
    from bot.files import Files, StorageError

    async def main():
        folder = Path(sys.argv[1])
        files = Files.open(Config(files_url=str(folder / "files")))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            await files.put_original("acme", "v1", folder / "source")
        except StorageError as error:
            print(error)

    asyncio.run(main())
"""


def test_a_write_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    (tmp_path / "source").write_bytes(bytes(5000))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL), tmp_path],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    assert done.stdout == b"The file is larger than this system allows.\n"
    assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (28, "There is no space left on the disk. Make room, then try again."),
        (122, "The disk quota is used up. Make room, then try again."),
        (30, "The file store is read-only."),
        (13, "The file store can't be written."),
        (5, "The file store can't be reached right now."),
    ],
)
async def test_the_system_s_errors_are_said_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise GenericError(f"Unable to copy data to file: whatever (os error {number})\n\nDebug source")

    monkeypatch.setattr(LocalStore, "put", fail)
    files = Files.open(Config(files_url=str(tmp_path)))
    with pytest.raises(StorageError) as caught:
        await files.put_parsed("acme", "v1", PARSED)
    assert str(caught.value).startswith(sentence)
    assert "Debug" not in caught.value.detail
