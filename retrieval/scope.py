"""Scope: what a question may search. Always a filter inside the vector query."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from retrieval.documents import Frozen


class Scope(Frozen):
    """A required argument of every search.

    A passage is in scope if its workspace is `workspace` **and** at least one of its audience keys
    is in `audience` **and** it passes each further field that is set. An empty `audience` finds
    nothing: there is no scope that means "all".
    """

    workspace: str = Field(min_length=1)
    #: Audience keys that *every* reader of the reply holds.
    audience: frozenset[str]
    #: None: every knowledge base of the workspace. Empty: none.
    knowledge_bases: frozenset[str] | None = None
    #: At least one of these labels, where set.
    labels: frozenset[str] | None = None
    documents: frozenset[str] | None = None
    uploaders: frozenset[str] | None = None
    #: The first moment in scope, and the first one after it; without a time zone they are UTC.
    uploaded_after: datetime | None = None
    uploaded_before: datetime | None = None
