"""Workspaces: which team or tenant belongs to which, and what each has set."""

from __future__ import annotations

import hashlib
import re
from typing import cast

from redis.asyncio import Redis

from adapters.forms import Form, FormInvalid, FormResult, Submission, validate
from adapters.ports import Actor, Refused
from bot import keys
from bot.scoping import ScopeError, read_bindings
from bot.settings import FORM_ID, WorkspaceValues, settings_form

#: The workspace of the command line and the local page, unless told otherwise.
LOCAL = "local"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")

#: Sets the values only if the revision is still the one they were read at.
_SAVE = """
local revision = tonumber(redis.call('HGET', KEYS[1], 'revision') or '0')
if revision ~= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'revision', revision + 1, 'values', ARGV[2])
return 1
"""


class WorkspaceBook:
    """Implements the ports `Workspaces` and `WorkspaceSettings`."""

    def __init__(self, redis: Redis, *, reranker: bool, rephrase: bool) -> None:
        self._redis = redis
        self._reranker, self._rephrase = reranker, rephrase
        self._save = redis.register_script(_SAVE)

    async def of(self, platform: str, tenant: str) -> str:
        """The linked workspace. A tenant seen for the first time gets one of its own."""
        if platform in ("cli", "web") and NAME.fullmatch(tenant):
            workspace = tenant
        else:
            digest = hashlib.sha256(f"{platform}:{tenant}".encode()).hexdigest()[:12]
            workspace = f"{platform}-{digest}"
        key = keys.workspace_link(platform, tenant)
        if await self._redis.set(key, workspace, nx=True):
            await self._redis.sadd(keys.workspaces(), workspace)
            return workspace
        return cast("bytes", await self._redis.get(key)).decode()

    async def link(self, platform: str, tenant: str, workspace: str) -> None:
        """Let a tenant share `workspace` with others."""
        if not NAME.fullmatch(workspace):
            raise Refused("A workspace's name has up to 63 of: a-z, 0-9, dot, dash and underscore.")
        await self._redis.set(keys.workspace_link(platform, tenant), workspace)
        await self._redis.sadd(keys.workspaces(), workspace)

    async def all(self) -> list[str]:
        names = cast("set[bytes]", await self._redis.smembers(keys.workspaces()))
        return sorted(name.decode() for name in names)

    async def values(self, workspace: str) -> WorkspaceValues:
        return (await self._read(workspace))[1]

    async def _read(self, workspace: str) -> tuple[int, WorkspaceValues]:
        revision, values = await self._redis.hmget(keys.settings(workspace), "revision", "values")
        if values is None:
            return 0, WorkspaceValues()
        return int(cast("bytes", revision)), WorkspaceValues.model_validate_json(cast("bytes", values))

    async def form(self, actor: Actor) -> Form:
        if not actor.person.is_admin:
            raise Refused("Only admins can change the settings.")
        revision, values = await self._read(actor.workspace)
        return settings_form(values, revision, reranker=self._reranker, rephrase=self._rephrase)

    async def submit(self, actor: Actor, submission: Submission) -> FormResult:
        form = await self.form(actor)
        if submission.form_id != FORM_ID:
            raise Refused("That is another form. Open the settings again.")
        try:
            values = validate(form, submission)
            _check(values)
        except FormInvalid as error:
            return FormResult(errors=error.errors)
        if submission.revision != form.revision:
            return FormResult(conflict=form)
        _, old = await self._read(actor.workspace)
        labels = str(values.get("default_labels", "")).split(",")
        values["default_labels"] = tuple(
            dict.fromkeys(label.strip().casefold() for label in labels if label.strip())
        )
        new = WorkspaceValues.model_validate(old.model_dump() | values)
        saved = await self._save(
            keys=[keys.settings(actor.workspace)], args=[form.revision, new.model_dump_json()]
        )
        if not saved:
            return FormResult(conflict=await self.form(actor))
        return FormResult(message="Saved. The settings hold from the next question on.")


def _check(values: dict[str, object]) -> None:
    """What one field alone can't tell."""
    errors: dict[str, str] = {}
    handed, retrieved = values.get("passages_handed_on"), values.get("passages_retrieved")
    if isinstance(handed, int) and isinstance(retrieved, int) and handed > retrieved:
        errors["passages_handed_on"] = f"At most as many as are retrieved ({retrieved})."
    try:
        read_bindings(str(values.get("bindings") or ""))
    except ScopeError as error:
        errors["bindings"] = str(error)
    if errors:
        raise FormInvalid(errors)
