"""The name of every key in Redis, in one place."""

from __future__ import annotations

import hashlib

PREFIX = "footnote:"


def turn(turn_id: str) -> str:
    """One turn: its reply, sources and trace."""
    return f"{PREFIX}turn:{turn_id}"


def unanswered(workspace: str) -> str:
    """List of the questions that were not covered lately, the newest first."""
    return f"{PREFIX}unanswered:{workspace}"


def feedback(workspace: str) -> str:
    """Hash of thumbs, by turn and person."""
    return f"{PREFIX}feedback:{workspace}"


def transcript(conversation_key: str) -> str:
    """Sorted set of message ids by time."""
    return f"{PREFIX}transcript:{conversation_key}"


def transcript_messages(conversation_key: str) -> str:
    """Hash of messages by id."""
    return f"{PREFIX}transcript-messages:{conversation_key}"


def workspace_link(platform: str, tenant: str) -> str:
    """The workspace that a Slack team or Teams tenant is linked to."""
    return f"{PREFIX}link:{platform}:{tenant}"


def workspaces() -> str:
    """Set of all workspaces."""
    return f"{PREFIX}workspaces"


def settings(workspace: str) -> str:
    """Hash of a workspace's settings: `revision` and `values`."""
    return f"{PREFIX}settings:{workspace}"


def link_secret() -> str:
    """Signs source links where the environment sets no secret."""
    return f"{PREFIX}link-secret"


def schema() -> str:
    """Version of all that is stored here; see `bot.state.SCHEMA`."""
    return f"{PREFIX}schema"


# -- documents -------------------------------------------------------------------------------------


def library_workspaces() -> str:
    """Set of the workspaces that have or had documents."""
    return f"{PREFIX}library-workspaces"


def documents(workspace: str) -> str:
    """Sorted set of document ids by the time of their first upload."""
    return f"{PREFIX}documents:{workspace}"


def knowledge_bases(workspace: str) -> str:
    """Hash of how many documents each knowledge base has."""
    return f"{PREFIX}knowledge-bases:{workspace}"


DOCUMENT = f"{PREFIX}document:"


def document(document_id: str) -> str:
    """Hash of one document; see `bot.catalogue`."""
    return DOCUMENT + document_id


VERSIONS = f"{PREFIX}document-versions:"


def versions(document_id: str) -> str:
    """Sorted set of a document's version ids by version number."""
    return VERSIONS + document_id


VERSION = f"{PREFIX}version:"


def version(version_id: str) -> str:
    """Hash of one version: `accepted`, `status`, `outcome`, `cancel`."""
    return VERSION + version_id


def document_name(workspace: str, knowledge_base: str, name: str) -> str:
    """Sorted set of the documents of that name, by the time of their first upload."""
    digest = hashlib.sha256("\0".join((workspace, knowledge_base, name)).encode()).hexdigest()
    return f"{PREFIX}document-name:{digest}"


def refused(version_id: str) -> str:
    """A file that was refused at once: a progress item that is kept for those who watch."""
    return f"{PREFIX}refused:{version_id}"


def deletions() -> str:
    """Hash document id -> workspace: deletions that were begun and must be finished."""
    return f"{PREFIX}deletions"


def relabellings() -> str:
    """Hash document id -> workspace: labels that the index must still be told."""
    return f"{PREFIX}relabellings"


PROGRESS = f"{PREFIX}progress:"


def progress(version_id: str) -> str:
    """Channel: something about the version changed."""
    return PROGRESS + version_id


# -- the ingest queue ------------------------------------------------------------------------------


def tickets() -> str:
    """Stream of the task queue: each entry says that there may be work."""
    return f"{PREFIX}tickets"


def lanes() -> str:
    """Sorted set of lanes that have jobs, by when they were served last."""
    return f"{PREFIX}lanes"


LANE = f"{PREFIX}lane:"


def lane(name: str) -> str:
    """List of waiting version ids of one uploader."""
    return LANE + name


JOB = f"{PREFIX}job:"


def job(version_id: str) -> str:
    """Hash of a version that waits or is worked: `lane`, `document`, `token`, `starts`, `retries`."""
    return JOB + version_id


def leases() -> str:
    """Sorted set of versions being worked, by the time (ms) when their lease ends."""
    return f"{PREFIX}leases"


def delayed() -> str:
    """Sorted set of versions that wait for another try, by its time (ms)."""
    return f"{PREFIX}delayed"


def busy() -> str:
    """Hash document id -> version that is being worked: one at a time."""
    return f"{PREFIX}busy"


def cancellations() -> str:
    """Channel of version ids whose work should stop."""
    return f"{PREFIX}cancellations"


def attachments(workspace: str, audience: str) -> str:
    """Sorted set of the documents attached to questions for one audience, by the time of the question."""
    return f"{PREFIX}attachments:{workspace}:{audience}"


def turn_attachments(turn_id: str) -> str:
    """Hash index of a file -> version that it became, so that a turn worked again adds nothing."""
    return f"{PREFIX}turn-attachments:{turn_id}"


def expiries() -> str:
    """Sorted set of "workspace document" by the time at which a document is deleted by itself."""
    return f"{PREFIX}expiries"


# -- adapters --------------------------------------------------------------------------------------


def note(name: str) -> str:
    """Hash of what an adapter remembers under a name."""
    return f"{PREFIX}note:{name}"


def note_lock(name: str) -> str:
    """Held by whoever changes what a note stands for."""
    return f"{PREFIX}note-lock:{name}"


def note_claim(name: str) -> str:
    """There for as long as somebody's claim holds."""
    return f"{PREFIX}note-claim:{name}"


def inbox(platform: str, part: str) -> str:
    """One of the structures of `bot.inbox`."""
    return f"{PREFIX}inbox:{platform}:{part}"
