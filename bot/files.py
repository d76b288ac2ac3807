"""Original files and parsed text: a folder, or an object store such as S3."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import re
import tempfile
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal, TypeVar
from urllib.parse import unquote, urlsplit

from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore, from_url

from bot.config import Config
from retrieval.documents import ParsedDocument

T = TypeVar("T")
Kind = Literal["originals", "parsed"]
#: Ids are parts of paths.
ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
#: What a write that was cut short leaves behind in a folder.
PARTIAL: Final = re.compile(r".+#\d+")
PARSED_SUFFIX: Final = ".json.gz"

#: Of one request; a large file is sent in parts, each with its own.
REQUEST_TIMEOUT: Final = "120s"
CONNECT_TIMEOUT: Final = "5s"
MAX_RETRIES: Final = 4
PART_BYTES: Final = 8 * 1024 * 1024


class StorageError(Exception):
    """Files can't be stored or read. `str()` is one sentence for the person."""

    def __init__(self, message: str, detail: str = "") -> None:
        self.detail = detail
        super().__init__(message)


#: By the number that the system gives the error.
_SYSTEM_ERRORS: Final = {
    28: "There is no space left on the disk. Make room, then try again.",
    122: "The disk quota is used up. Make room, then try again.",
    27: "The file is larger than this system allows.",
    30: "The file store is read-only. Ask your administrator to make it writable.",
    13: "The file store can't be written. Ask your administrator to give access to it.",
}
_UNREACHABLE: Final = "The file store can't be reached right now. Try again in a few minutes."


@contextlib.contextmanager
def _clear_errors() -> Generator[None]:
    """Turns the store's errors into `StorageError`; a missing file stays `FileNotFoundError`."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (BaseError, OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        if number is None and (found := re.search(r"os error (\d+)", str(error))):
            number = int(found[1])
        detail = str(error).split("\n", 1)[0]
        raise StorageError(_SYSTEM_ERRORS.get(number or 0, _UNREACHABLE), detail) from error


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file as it is listed."""

    key: str
    kind: Kind
    workspace: str
    version_id: str
    modified: datetime


class Files:
    """The original and the parsed text of each document version.

    Nothing is shared between versions, so that a version's files can go whenever its record does.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        #: Set where the store is a folder.
        self._root = store.prefix if isinstance(store, LocalStore) else None
        #: Folders whose names are on the disk for certain.
        self._named: set[Path] = set()

    @classmethod
    def open(cls, config: Config) -> Files:
        """Raises `StorageError` where the folder can't be made or the address is none."""
        url = config.files_url
        if url is None or "://" not in url or url.startswith("file://"):
            folder = Path(
                unquote(urlsplit(url).path) if url and "://" in url else url or config.data_dir / "files"
            )
            with _clear_errors():
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                return cls(LocalStore(folder.resolve()))
        with _clear_errors():
            return cls(
                from_url(
                    url,
                    client_options={
                        "timeout": REQUEST_TIMEOUT,
                        "connect_timeout": CONNECT_TIMEOUT,
                        # For an endpoint whose address says http, such as MinIO in the same network.
                        "allow_http": True,
                    },
                    retry_config={"max_retries": MAX_RETRIES, "retry_timeout": timedelta(minutes=2)},
                )
            )

    async def put_original(self, workspace: str, version_id: str, source: Path) -> None:
        """Copy `source`, at once or not at all. When this returns, the copy outlives a power cut."""
        key = _key("originals", workspace, version_id)

        def put() -> None:
            self._store.put(key, source, chunk_size=PART_BYTES, max_concurrency=4)
            self._keep(key)

        await _in_thread(put)

    async def copy_original(self, workspace: str, version_id: str, new_version_id: str) -> None:
        """Raises `FileNotFoundError`."""
        old, new = _key("originals", workspace, version_id), _key("originals", workspace, new_version_id)

        def copy() -> None:
            self._store.copy(old, new)
            self._keep(new)

        await _in_thread(copy)

    @contextlib.asynccontextmanager
    async def original(self, workspace: str, version_id: str) -> AsyncGenerator[Path]:
        """A local path to read from. Raises `FileNotFoundError`."""
        key = _key("originals", workspace, version_id)
        if self._root is not None:
            path = self._root / key
            await asyncio.to_thread(path.stat)
            yield path
            return
        with tempfile.TemporaryDirectory(prefix="footnote-") as folder:
            path = Path(folder) / version_id

            def fetch() -> None:
                with path.open("wb") as file:
                    for part in self._store.get(key).stream(min_chunk_size=PART_BYTES):
                        file.write(part)

            await _in_thread(fetch)
            yield path

    async def read_original(self, workspace: str, version_id: str, *, start: int = 0, length: int) -> bytes:
        """`length` bytes from `start`, fewer at the end. Raises `FileNotFoundError`."""
        key = _key("originals", workspace, version_id)
        return await _in_thread(lambda: bytes(self._store.get_range(key, start=start, length=length)))

    async def put_parsed(self, workspace: str, version_id: str, parsed: ParsedDocument) -> None:
        """At once or not at all. A power cut may undo it: it can be made again from the original."""
        key = _key("parsed", workspace, version_id + PARSED_SUFFIX)
        await _in_thread(lambda: self._store.put(key, _pack(parsed)))

    async def parsed(self, workspace: str, version_id: str) -> ParsedDocument:
        """Raises `FileNotFoundError`, also for one that a power cut has spoilt."""
        key = _key("parsed", workspace, version_id + PARSED_SUFFIX)
        data = await _in_thread(lambda: bytes(self._store.get(key).bytes()))
        try:
            return await asyncio.to_thread(_unpack, data)
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise FileNotFoundError(key) from error

    async def delete_version(self, workspace: str, version_id: str) -> None:
        """Remove both files of a version. Those that are gone already are no error."""
        for key in (
            _key("originals", workspace, version_id),
            _key("parsed", workspace, version_id + PARSED_SUFFIX),
        ):
            with contextlib.suppress(FileNotFoundError):
                await _in_thread(lambda key=key: self._store.delete(key))

    async def list(self) -> AsyncIterator[StoredFile]:
        """Every file, of all workspaces."""
        kinds: tuple[Kind, ...] = ("originals", "parsed")
        for kind in kinds:
            batches = await _in_thread(lambda kind=kind: iter(self._store.list(kind)))
            while batch := await _in_thread(lambda batches=batches: next(batches, None)):
                for meta in batch:
                    match meta["path"].split("/"):
                        case [_, workspace, name]:
                            version_id = name.removesuffix(PARSED_SUFFIX)
                            modified = meta["last_modified"]
                            yield StoredFile(meta["path"], kind, workspace, version_id, modified)
                        case _:
                            continue

    async def remove_partial(self, before: datetime) -> int:
        """Remove what broken writes left in the folder before that time; how many there were."""
        if self._root is None:
            return 0
        return await asyncio.to_thread(_remove_partial, self._root, before)

    async def check(self) -> None:
        """Write, read and delete a small file. Raises `StorageError`; for `kb doctor`."""

        def check() -> None:
            self._store.put("check", b"footnote")
            self._store.get("check").bytes()
            self._store.delete("check")

        await _in_thread(check)

    def _keep(self, key: str) -> None:
        """Make a file last, or remove it: nobody would know of it."""
        try:
            self._sync(key)
        except BaseException:
            with contextlib.suppress(BaseError, OSError):  # what remains is removed by `bot.reconcile`
                self._store.delete(key)
            raise

    def _sync(self, key: str) -> None:
        """Flush a file to the disk, and the names on the way to it that are new since the start."""
        if self._root is None:
            return
        path = self._root / key
        _fsync(path)
        folder = path.parent
        _fsync(folder)
        while folder != self._root and folder not in self._named:
            _fsync(folder.parent)
            self._named.add(folder)
            folder = folder.parent


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


async def _in_thread(work: Callable[[], T]) -> T:
    """Run a call of the store in a thread. Cancelled, it still waits for it: nothing is written later.

    obstore's own coroutines are not used: what they leave to its threads after they have returned
    aborts the interpreter when that exits at the same time.
    """

    def guarded() -> T:
        with _clear_errors():
            return work()

    task = asyncio.ensure_future(asyncio.to_thread(guarded))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _key(kind: Kind, *parts: str) -> str:
    for part in parts:
        if not ID.fullmatch(part):
            raise ValueError(f"not an id: {part!r}")
    return "/".join((kind, *parts))


def _pack(parsed: ParsedDocument) -> bytes:
    return gzip.compress(parsed.model_dump_json().encode(), compresslevel=6, mtime=0)


def _unpack(data: bytes) -> ParsedDocument:
    return ParsedDocument.model_validate_json(gzip.decompress(data))


def _remove_partial(root: Path, before: datetime) -> int:
    removed = 0
    for folder, _, names in os.walk(root):
        for name in filter(PARTIAL.fullmatch, names):
            path = Path(folder) / name
            with contextlib.suppress(FileNotFoundError):
                if datetime.fromtimestamp(path.stat().st_mtime, UTC) < before:
                    path.unlink()
                    removed += 1
    return removed
