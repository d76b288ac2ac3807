"""Which version is ingested next, and by whom: fair among uploaders, one version of a document at a time.

The truth is here, in Redis structures that change in one step each. The task queue (`bot.tickets`)
only says that there may be something to take, so a ticket that is lost or comes twice harms nothing.

A version that is taken is leased. Whoever holds it renews the lease; a lease that ran out goes back
into the queue, and what its former holder still writes is refused by its token.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final, cast
from uuid import uuid4

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from bot import keys
from retrieval.documents import DocumentMeta

#: How many waiting versions of one lane are looked at for one whose document is not being worked.
LOOK_AHEAD: Final = 64

_NOW = """
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local now = math.floor(now_us / 1000)
"""

#: KEYS lanes, list of the lane, job. ARGV lane, version, document, workspace.
#: A lane that was empty takes its place behind those that wait already.
_PUT: Final = (
    _NOW
    + """
redis.call('RPUSH', KEYS[2], ARGV[2])
redis.call('ZADD', KEYS[1], 'NX', now_us, ARGV[1])
redis.call('HSET', KEYS[3], 'lane', ARGV[1], 'document', ARGV[3], 'workspace', ARGV[4])
"""
)

#: KEYS lanes, leases, busy. ARGV prefixes of lanes, jobs and versions, token, lease in ms, look-ahead.
_TAKE: Final = (
    _NOW
    + """
for _, lane in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local list = ARGV[1] .. lane
  for _, version in ipairs(redis.call('LRANGE', list, 0, ARGV[6] - 1)) do
    local job = ARGV[2] .. version
    local document = redis.call('HGET', job, 'document')
    if not document then
      redis.call('LREM', list, 0, version)
    elseif redis.call('HSETNX', KEYS[3], document, version) == 1 then
      redis.call('LREM', list, 1, version)
      redis.call('ZADD', KEYS[1], now_us, lane)
      if redis.call('LLEN', list) == 0 then redis.call('ZREM', KEYS[1], lane) end
      redis.call('ZADD', KEYS[2], now + ARGV[5], version)
      redis.call('HSET', job, 'token', ARGV[4])
      local fresh = redis.call('HSETNX', job, 'starts', 0)
      local starts = redis.call('HINCRBY', job, 'starts', 1)
      local about = redis.call('HMGET', job, 'workspace', 'retries')
      local cancelled = redis.call('HEXISTS', ARGV[3] .. version, 'cancel')
      return {version, document, about[1], starts, about[2] or '0', fresh, cancelled}
    end
  end
  if redis.call('LLEN', list) == 0 then redis.call('ZREM', KEYS[1], lane) end
end
return false
"""
)

#: KEYS leases, job, version. ARGV version, token, lease in ms.
_RENEW: Final = (
    _NOW
    + """
if redis.call('HGET', KEYS[2], 'token') ~= ARGV[2] then return 'lost' end
redis.call('ZADD', KEYS[1], 'XX', now + ARGV[3], ARGV[1])
if redis.call('HEXISTS', KEYS[3], 'cancel') == 1 then return 'cancelled' end
return 'held'
"""
)

#: KEYS lanes, leases, busy, delayed, job. ARGV prefix of lanes, version, token, ms to wait, retries to add.
_GIVE_BACK: Final = (
    _NOW
    + """
if redis.call('HGET', KEYS[5], 'token') ~= ARGV[3] then return 0 end
redis.call('HDEL', KEYS[5], 'token')
redis.call('HINCRBY', KEYS[5], 'starts', -1)
redis.call('HINCRBY', KEYS[5], 'retries', ARGV[5])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('HDEL', KEYS[3], redis.call('HGET', KEYS[5], 'document'))
if tonumber(ARGV[4]) > 0 then
  redis.call('ZADD', KEYS[4], now + ARGV[4], ARGV[2])
else
  local lane = redis.call('HGET', KEYS[5], 'lane')
  redis.call('LPUSH', ARGV[1] .. lane, ARGV[2])
  redis.call('ZADD', KEYS[1], 'NX', now_us, lane)
end
return 1
"""
)

#: KEYS lanes, leases, busy, delayed. ARGV prefix of lanes, prefix of jobs, '1': every lease has run out.
_RECOVER: Final = (
    _NOW
    + """
local moved = 0
local function put(version, lane)
  redis.call('LPUSH', ARGV[1] .. lane, version)
  redis.call('ZADD', KEYS[1], 'NX', now_us, lane)
  moved = moved + 1
end
for _, version in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[3] == '1' and '+inf' or now)) do
  local job = ARGV[2] .. version
  local found = redis.call('HMGET', job, 'lane', 'document')
  redis.call('ZREM', KEYS[2], version)
  if found[1] then
    redis.call('HDEL', job, 'token')
    redis.call('HDEL', KEYS[3], found[2])
    put(version, found[1])
  end
end
for _, version in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now)) do
  local lane = redis.call('HGET', ARGV[2] .. version, 'lane')
  redis.call('ZREM', KEYS[4], version)
  if lane then put(version, lane) end
end
return moved
"""
)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work one version, until it is given up or runs out."""

    version_id: str
    document_id: str
    workspace: str
    #: Tells this holder from an earlier one.
    token: str
    #: How often work was begun and neither ended nor was given back: more than 1 means a crash.
    starts: int
    #: How often it was put off because something was unavailable.
    retries: int
    #: Nobody has worked on it before.
    fresh: bool
    #: It was cancelled while an earlier holder worked on it.
    cancelled: bool


def lane_of(meta: DocumentMeta) -> str:
    """Whose turn it is when several wait."""
    return f"{meta.workspace}/{meta.uploader or ''}"


class LeaseLost(Exception):
    """Somebody else may be working the version by now, or it is gone: stop and write nothing."""


class Cancelled(Exception):
    """Somebody cancelled the work on this version."""


class IngestQueue:
    """`lease_ms`: how long a version is held without a sign of life of its holder."""

    def __init__(self, redis: Redis, *, lease_ms: int = 30_000) -> None:
        self._redis = redis
        self.lease_ms = lease_ms
        self._take = redis.register_script(_TAKE)
        self._renew = redis.register_script(_RENEW)
        self._give_back = redis.register_script(_GIVE_BACK)
        self._recover = redis.register_script(_RECOVER)

    @staticmethod
    def put(pipe: Pipeline, meta: DocumentMeta) -> None:
        """Add to a transaction: the version waits at the end of its lane."""
        lane = lane_of(meta)
        names = (keys.lanes(), keys.lane(lane), keys.job(meta.version_id))
        pipe.eval(_PUT, len(names), *names, lane, meta.version_id, meta.document_id, meta.workspace)

    @staticmethod
    def drop_waiting(pipe: Pipeline, meta: DocumentMeta) -> None:
        """Add to a transaction: a version that nobody holds does not wait any more."""
        pipe.lrem(keys.lane(lane_of(meta)), 0, meta.version_id)
        pipe.zrem(keys.delayed(), meta.version_id)
        pipe.delete(keys.job(meta.version_id))

    @staticmethod
    def drop_held(pipe: Pipeline, lease: Lease) -> None:
        """Add to a transaction: the work on a version has ended."""
        pipe.delete(keys.job(lease.version_id))
        pipe.zrem(keys.leases(), lease.version_id)
        pipe.hdel(keys.busy(), lease.document_id)

    async def take(self) -> Lease | None:
        """The next version that may be worked. The start is counted before any work is done."""
        token = uuid4().hex
        found = await cast(
            "Awaitable[list[bytes] | None]",
            self._take(
                keys=[keys.lanes(), keys.leases(), keys.busy()],
                args=[keys.LANE, keys.JOB, keys.VERSION, token, self.lease_ms, LOOK_AHEAD],
            ),
        )
        if not found:
            return None
        version, document, workspace, starts, retries, fresh, cancelled = found
        return Lease(
            version.decode(),
            document.decode(),
            workspace.decode(),
            token,
            int(starts),
            int(retries),
            bool(int(fresh)),
            bool(int(cancelled)),
        )

    async def renew(self, lease: Lease) -> None:
        """Raises `LeaseLost`, or `Cancelled` (the lease is renewed then, for cleaning up)."""
        answer = await cast(
            "Awaitable[bytes]",
            self._renew(
                keys=[keys.leases(), keys.job(lease.version_id), keys.version(lease.version_id)],
                args=[lease.version_id, lease.token, self.lease_ms],
            ),
        )
        raise_if_over(answer, lease)

    async def give_back(self, lease: Lease, *, delay_ms: int = 0, retried: bool = False) -> None:
        """Let it wait again: next in its lane, or after `delay_ms`. Not counted as a crash."""
        await cast(
            "Awaitable[int]",
            self._give_back(
                keys=[keys.lanes(), keys.leases(), keys.busy(), keys.delayed(), keys.job(lease.version_id)],
                args=[keys.LANE, lease.version_id, lease.token, delay_ms, int(retried)],
            ),
        )

    async def recover(self, *, all_leases: bool = False) -> int:
        """Queue again what nobody holds any more or whose delay is over; how many those were.

        `all_leases`: nobody else works on this queue, so that whatever is held is held by the dead.
        """
        return await cast(
            "Awaitable[int]",
            self._recover(
                keys=[keys.lanes(), keys.leases(), keys.busy(), keys.delayed()],
                args=[keys.LANE, keys.JOB, int(all_leases)],
            ),
        )

    async def waiting(self) -> bool:
        """Whether some lane has a version in it."""
        return bool(await self._redis.exists(keys.lanes()))


def raise_if_over(answer: bytes, lease: Lease) -> None:
    """Turn a script's answer into `LeaseLost` or `Cancelled`."""
    match answer:
        case b"lost":
            raise LeaseLost(lease.version_id)
        case b"cancelled":
            raise Cancelled(lease.version_id)
        case _:
            return
