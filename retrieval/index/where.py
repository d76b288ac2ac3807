"""Filters as values, so that each store translates the same one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from retrieval.index import payload as p
from retrieval.scope import Scope


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The field, or one of its members, is one of `values`."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """least <= field < below, where set."""

    key: str
    least: int | None = None
    below: int | None = None


Condition = AnyOf | Between


@dataclass(frozen=True, slots=True)
class Where:
    """All of `must` and none of `without`."""

    must: tuple[Condition, ...]
    without: tuple[AnyOf, ...] = ()

    def also(self, *must: Condition) -> Where:
        return Where(self.must + must, self.without)


def one(key: str, value: str) -> AnyOf:
    return AnyOf(key, (value,))


def published(workspace: str) -> Where:
    """Every published chunk of a workspace: the corpus of its word statistics."""
    return Where((one(p.LIVE, workspace),))


def staged_or_published(workspace: str, *more: Condition) -> Where:
    return Where((one(p.WORKSPACE, workspace), *more))


def in_scope(scope: Scope, hidden: tuple[AnyOf, ...] = ()) -> Where | None:
    """The filter of a scope; None when nothing can pass it.

    `uploaded_after` is the first moment in scope, `uploaded_before` the first out of it.
    """
    sets = {
        p.AUDIENCE: scope.audience,
        p.KNOWLEDGE_BASE: scope.knowledge_bases,
        p.LABELS: scope.labels,
        p.DOCUMENT: scope.documents,
        p.UPLOADER: scope.uploaders,
    }
    given = {key: values for key, values in sets.items() if values is not None}
    if not all(given.values()):
        return None
    must: list[Condition] = [one(p.LIVE, scope.workspace)]
    must.extend(AnyOf(key, _sorted(values)) for key, values in given.items())
    if scope.uploaded_after is not None or scope.uploaded_before is not None:
        must.append(
            Between(
                p.UPLOADED, _micros_or_none(scope.uploaded_after), _micros_or_none(scope.uploaded_before)
            )
        )
    return Where(tuple(must), hidden)


def _micros_or_none(moment: datetime | None) -> int | None:
    return None if moment is None else p.micros(moment)


def _sorted(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(values))
