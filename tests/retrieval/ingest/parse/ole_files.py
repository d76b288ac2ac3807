"""Small OLE compound files: old Office documents, Outlook messages, encrypted new ones."""

from __future__ import annotations

import struct

_SECTOR, _MINI = 512, 64
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def ole(streams: dict[str, bytes]) -> bytes:
    """A compound file of small streams (below 4096 bytes each), all in its root."""
    mini, mini_fat, starts = b"", list[int](), dict[str, int]()
    for name, data in streams.items():
        starts[name] = len(mini_fat)
        count = max(1, -(-len(data) // _MINI))
        mini_fat += [*range(len(mini_fat) + 1, len(mini_fat) + count), _END]
        mini += data.ljust(count * _MINI, b"\0")
    names = sorted(streams, key=lambda name: (len(name), name.upper()))
    entries = [_entry("Root Entry", 5, child=1, start=0, size=len(mini))]
    for at, name in enumerate(names, 1):
        right = at + 1 if at < len(names) else _FREE
        entries.append(_entry(name, 2, right=right, start=starts[name], size=len(streams[name])))
    directory = b"".join(entries)
    parts = [mini, struct.pack(f"<{len(mini_fat)}I", *mini_fat), directory]
    fills = [b"\0", b"\xff", b"\0"]
    fat: list[int] = []
    body, firsts = b"", list[int]()
    for part, fill in zip(parts, fills, strict=True):
        count = -(-len(part) // _SECTOR)
        firsts.append(len(fat))
        fat += [*range(len(fat) + 1, len(fat) + count), _END]
        body += part.ljust(count * _SECTOR, fill)
    fat_at = len(fat)
    fat.append(_FAT)
    assert len(fat) <= _SECTOR // 4
    body += struct.pack(f"<{len(fat)}I", *fat).ljust(_SECTOR, b"\xff")
    body = body.replace(b"\x00START", struct.pack("<I", firsts[0]))
    root = bytearray(body)
    struct.pack_into("<I", root, firsts[2] * _SECTOR + 116, firsts[0])
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6,
        0, 1, firsts[2], 0, 4096, firsts[1], -(-len(parts[1]) // _SECTOR), _END, 0, fat_at,
    )  # fmt: skip
    return header.ljust(_SECTOR, b"\xff") + bytes(root)


def _entry(name: str, kind: int, *, start: int, size: int, right: int = _FREE, child: int = _FREE) -> bytes:
    raw = name.encode("utf-16-le")
    return struct.pack("<64sHBBIII36xIQ", raw, len(raw) + 2, kind, 1, _FREE, right, child, start, size)


def outlook_message(subject: str, body: str, sender: str = "Ada") -> bytes:
    """An Outlook message (MSG) of text alone."""
    texts = {"0037": subject, "1000": body, "0C1A": sender, "001A": "IPM.Note"}
    streams = {f"__substg1.0_{key}001F": text.encode("utf-16-le") for key, text in texts.items()}
    properties = b"\0" * 32 + b"".join(
        struct.pack("<HHIII", 0x001F, int(key, 16), 6, len(text) * 2 + 2, 0) for key, text in texts.items()
    )
    return ole({"__properties_version1.0": properties, **streams})
