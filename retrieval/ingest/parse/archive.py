"""ZIP containers (OOXML, ODF, EPUB), looked over before anything unpacks them."""

from __future__ import annotations

import io
import zipfile
import zlib

from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.protocol import Unreadable

_ENCRYPTED_FLAG = 0x1


class Archive:
    """A ZIP file within the limits. Nothing is ever written to disk from it.

    Raises `Unreadable`: corrupt (no ZIP, or names that lead out of it), too_large (entries or bytes
    when unpacked), encrypted.
    """

    def __init__(self, data: bytes, limits: ParseLimits) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError) as error:
            raise Unreadable("corrupt", f"no ZIP archive: {type(error).__name__}") from error
        entries = self._zip.infolist()
        if len(entries) > limits.max_archive_entries:
            raise Unreadable("too_large", f"{len(entries)} entries")
        unpacked = sum(entry.file_size for entry in entries)
        if unpacked > limits.max_unpacked_bytes:
            raise Unreadable("too_large", f"{unpacked} bytes unpacked")
        if any(_leads_out(entry.filename) for entry in entries):
            raise Unreadable("corrupt", "names lead out of the archive")
        if any(entry.flag_bits & _ENCRYPTED_FLAG for entry in entries):
            raise Unreadable("encrypted", "encrypted entries")
        self.names = frozenset(entry.filename for entry in entries)

    def read(self, name: str) -> bytes | None:
        """The content of one entry, None when there is none. Raises `Unreadable("corrupt")`."""
        if name not in self.names:
            return None
        try:
            return self._zip.read(name)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            ValueError,
            RuntimeError,
            OSError,
        ) as error:
            raise Unreadable("corrupt", f"{type(error).__name__} in an entry") from error


def _leads_out(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":")
