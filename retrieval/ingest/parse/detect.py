"""What kind of file this is: its content first, its name second."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Literal

from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.archive import Archive
from retrieval.ingest.parse.charset import looks_like_text
from retrieval.ingest.parse.languages import LANGUAGES
from retrieval.ingest.protocol import Unreadable

Kind = Literal[
    "pdf", "docx", "pptx", "xlsx", "xlsb", "odt", "ods", "odp", "epub", "rtf", "doc", "xls", "ppt", "msg",
    "html", "eml", "markdown", "csv", "json", "yaml", "notebook", "xml", "code", "text",
]  # fmt: skip

#: Kinds whose content is no text, by ending. Plain text under such a name is a damaged file ...
_BINARY_ENDINGS: dict[str, Kind] = {
    "pdf": "pdf", "docx": "docx", "docm": "docx", "dotx": "docx", "pptx": "pptx", "pptm": "pptx",
    "ppsx": "pptx", "xlsx": "xlsx", "xlsm": "xlsx", "xlsb": "xlsb", "odt": "odt", "ott": "odt",
    "ods": "ods", "odp": "odp", "epub": "epub", "rtf": "rtf", "msg": "msg", "doc": "doc", "xls": "xls",
    "ppt": "ppt",
}  # fmt: skip
#: ... but for these, which programs give to text that the old Office opens.
_LOOSE_ENDINGS: dict[str, Kind] = {"doc": "text", "xls": "csv"}
_TEXT_ENDINGS: dict[str, Kind] = {
    "html": "html", "htm": "html", "xhtml": "html", "shtml": "html", "eml": "eml", "mht": "eml",
    "mhtml": "eml", "md": "markdown", "markdown": "markdown", "mdx": "markdown", "mkd": "markdown",
    "rst": "markdown", "csv": "csv", "tsv": "csv", "tab": "csv", "json": "json", "jsonl": "json",
    "ndjson": "json", "geojson": "json", "ipynb": "notebook", "yaml": "yaml", "yml": "yaml",
    "xml": "xml", "rss": "xml", "atom": "xml", "dbk": "xml", "txt": "text", "text": "text",
    "log": "text", "adoc": "text", "org": "text", "tex": "text", "srt": "text",
}  # fmt: skip
#: First bytes of files that hold no text for us.
_FOREIGN = re.compile(
    rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|BM.{4}\0\0\0\0|II\*\0|MM\0\*|RIFF....(?:WEBP|WAVE|AVI )|....ftyp|"
    rb"ID3[\x02-\x04]|OggS\0|fLaC\0|\x1f\x8b|BZh[1-9]1AY|7z\xbc\xaf|Rar!\x1a|\xfd7zXZ|\x28\xb5\x2f\xfd|"
    rb"MZ(?=.{0,60}\0)|\x7fELF|\xca\xfe\xba\xbe|\xcf\xfa\xed\xfe|SQLite format 3\0|%!PS|\0\0\x01\0|"
    rb"wOF[F2]|\0asm|\x1aE\xdf\xa3|AC10\d\d|!BDN",
    re.DOTALL,
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ODF_TYPES: dict[str, Kind] = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_MAIL_HEADER = re.compile(
    r"^(?:from|to|subject|date|received|return-path|mime-version|message-id|delivered-to|content-type):",
    re.I | re.M,
)


def ending(name: str) -> str:
    """The ending of a file name in small letters, without its dot."""
    return PurePosixPath(name.replace("\\", "/")).suffix.lower().lstrip(".")


def kind_of_name(name: str) -> Kind | None:
    """What a file's name alone says; None for an ending of nothing that can be read."""
    end = ending(name)
    if kind := _BINARY_ENDINGS.get(end) or _TEXT_ENDINGS.get(end):
        return kind
    return "code" if end in LANGUAGES else None if end else "text"


def detect(name: str, data: bytes, limits: ParseLimits) -> Kind:
    """Raises `Unreadable` for what can't be read: each reason but timeout."""
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise Unreadable("empty", "no bytes")
    head = data[:1024]
    if b"%PDF-" in head:
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_zip(name, Archive(data, limits))
    if head.startswith(_OLE):
        return _in_ole(name, data)
    if head.lstrip().startswith(b"{\\rtf"):
        return "rtf"
    if _FOREIGN.match(head):
        raise Unreadable("mislabelled" if _is_known(name) else "unsupported", "foreign content")
    text = looks_like_text(data)
    if text is None:
        if ending(name) in _BINARY_ENDINGS:
            raise Unreadable("corrupt", "no such signature")
        raise Unreadable("mislabelled" if _is_known(name) else "unsupported", "binary content")
    return _in_text(name, text)


def _is_known(name: str) -> bool:
    return ending(name) in _BINARY_ENDINGS or ending(name) in _TEXT_ENDINGS or ending(name) in LANGUAGES


def _in_zip(name: str, archive: Archive) -> Kind:
    names = archive.names
    if "[Content_Types].xml" in names:
        folders: dict[str, Kind] = {"word/": "docx", "ppt/": "pptx", "xl/": "xlsx"}
        for folder, kind in folders.items():
            if any(entry.startswith(folder) for entry in names):
                return "xlsb" if "xl/workbook.bin" in names else kind
        raise Unreadable("corrupt", "an Office file without its document")
    mimetype = (archive.read("mimetype") or b"").decode("latin-1").strip()
    if mimetype == "application/epub+zip" or "META-INF/container.xml" in names:
        return "epub"
    if mimetype.startswith("application/vnd.oasis.opendocument."):
        if b"encryption-data" in (archive.read("META-INF/manifest.xml") or b""):
            raise Unreadable("encrypted", "OpenDocument")
        kind = _ODF_TYPES.get(mimetype.rpartition(".")[2].removesuffix("-template"))
        if kind is None:
            raise Unreadable("unsupported", mimetype)
        return kind
    raise Unreadable("mislabelled" if _is_known(name) else "unsupported", "a ZIP archive of something else")


def _in_ole(name: str, data: bytes) -> Kind:
    """Old Office files and encrypted new ones, told apart by the names in their directory."""
    if _ole_name("EncryptedPackage") in data or _ole_name("EncryptionInfo") in data:
        raise Unreadable("encrypted", "EncryptedPackage")
    found: Kind | None = None
    if _ole_name("WordDocument") in data:
        # The file information block stands in the first sector; its flags are 10 bytes in.
        if data[512:514] == b"\xec\xa5" and data[523] & 0x01:
            raise Unreadable("encrypted", "Word 97")
        found = "doc"
    elif _ole_name("PowerPoint Document") in data:
        if _ole_name("EncryptedSummary") in data:
            raise Unreadable("encrypted", "PowerPoint 97")
        found = "ppt"
    elif _ole_name("Workbook") in data or _ole_name("Book") in data:
        # BOF, then FILEPASS, as Excel writes them.
        if re.search(rb"\x09\x08\x10\x00\x00\x06.{14}\x2f\x00", data[512:4096], re.DOTALL):
            raise Unreadable("encrypted", "Excel 97")
        found = "xls"
    elif _ole_name("__properties_version1.0") in data:
        found = "msg"
    if found is None:
        raise Unreadable("mislabelled" if _is_known(name) else "unsupported", "OLE of something else")
    return found


def _ole_name(name: str) -> bytes:
    return name.encode("utf-16-le")


def _in_text(name: str, text: str) -> Kind:
    end = ending(name)
    named = _TEXT_ENDINGS.get(end) or ("code" if end in LANGUAGES else None)
    if named not in ("markdown", "code", "csv", "yaml") and _HTML.match(text):
        return "html"
    if end in _BINARY_ENDINGS and end not in _LOOSE_ENDINGS:
        raise Unreadable("corrupt", "text under the name of another kind")
    if kind := named or _LOOSE_ENDINGS.get(end):
        return kind
    start = text.lstrip()[:1]
    if start in ("{", "[") and text.rstrip().endswith(("}", "]")) and '"' in text:
        return "json"
    if len(set(_MAIL_HEADER.findall(text.partition("\n\n")[0]))) >= 3:
        return "eml"
    return "code" if text.startswith("#!") else "xml" if text.lstrip().startswith("<?xml") else "text"
