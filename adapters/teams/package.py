"""The app as Teams is told about it: a manifest and two icons in a zip file, to upload."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

_HERE: Final = Path(__file__).parent
_ICONS: Final = ("color.png", "outline.png")
#: All files of the archive have it, so that the same app is the same bytes.
_DATE: Final = (2026, 1, 1, 0, 0, 0)


def manifest(
    url: str, app_id: str, *, version: str, developer: str, privacy_url: str, terms_url: str
) -> dict[str, Any]:
    """By schema 1.29, from `manifest.json`.

    Args:
        url: where people reach this server.
        app_id: the Microsoft App ID of the bot.
        version: by semantic versioning. Teams takes a package in another's place where it is higher.
    """
    values = {
        "app_id": app_id,
        "version": version,
        "url": url,
        "domain": urlsplit(url).netloc,
        "developer": developer,
        "privacy_url": privacy_url,
        "terms_url": terms_url,
    }
    return _filled(json.loads((_HERE / "manifest.json").read_text("utf-8")), values)


def package(made: dict[str, Any]) -> bytes:
    """The zip file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        text = json.dumps(made, indent=2, ensure_ascii=False).encode()
        zipped.writestr(zipfile.ZipInfo("manifest.json", _DATE), text, zipfile.ZIP_DEFLATED)
        for name in _ICONS:
            zipped.writestr(zipfile.ZipInfo(name, _DATE), (_HERE / "icons" / name).read_bytes())
    return archive.getvalue()


def _filled(value: Any, values: dict[str, str]) -> Any:
    if isinstance(value, str):
        name = value[1:-1] if value.startswith("{") and value.endswith("}") else ""
        return values.get(name, value)
    if isinstance(value, list):
        return [_filled(one, values) for one in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {key: _filled(one, values) for key, one in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value
