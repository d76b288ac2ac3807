"""The small JSON files beside an embedded shard. Each write is all or nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from retrieval.index import payload as p
from retrieval.index.about import about_of, check_about
from retrieval.index.base import Change
from retrieval.index.payload import VersionKey
from retrieval.index.protocol import Fingerprint, IndexUnavailable
from retrieval.index.where import AnyOf

_ABOUT = "index.json"
_PENDING = "pending.json"
_FIRST_SHARD = "shard-1"


class EdgeFiles:
    """What an index knows of itself: which model filled it, which shard is current, what was begun."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def shard(self, fingerprint: Fingerprint) -> Path:
        """The current shard of an index that this model filled, or is going to.

        Raises `IndexMismatch` for another model, `IndexUnavailable` for another format.
        """
        about = read_json(self.folder / _ABOUT)
        if about is None:
            return self.choose(fingerprint, self.folder / _FIRST_SHARD)
        check_about(about, fingerprint)
        return self.folder / str(about["shard"])

    def choose(self, fingerprint: Fingerprint, shard: Path) -> Path:
        """From now on this shard is the current one."""
        write_json(self.folder / _ABOUT, about_of(fingerprint) | {"shard": shard.name})
        return shard

    def next_shard(self, shard: Path) -> Path:
        return self.folder / f"shard-{int(shard.name.partition('-')[2]) + 1}"

    def others(self, shard: Path) -> list[Path]:
        """What an optimisation, or the making of a shard, has left that was killed."""
        return [path for path in self.folder.glob("shard-*") if path != shard]

    def pending(self) -> Change | None:
        """The change that was begun last, unless it was finished."""
        stored = read_json(self.folder / _PENDING)
        if stored is None:
            return None
        show, remove = stored["show"], stored["remove"]
        return Change(
            stored["workspace"],
            VersionKey(*show) if show else None,
            AnyOf(remove["key"], tuple(remove["values"])) if remove else None,
        )

    def begin(self, change: Change) -> None:
        remove = change.remove
        write_json(
            self.folder / _PENDING,
            {
                p.WORKSPACE: change.workspace,
                "show": change.show,
                "remove": remove and {"key": remove.key, "values": remove.values},
            },
        )

    def has_pending(self) -> bool:
        return (self.folder / _PENDING).exists()

    def finish(self) -> None:
        (self.folder / _PENDING).unlink(missing_ok=True)


def read_json(path: Path) -> dict[str, Any] | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise IndexUnavailable(f"{path} is damaged. Run `kb reindex` to rebuild the index.") from error


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    draft = path.with_suffix(".new")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
