"""The steps of `bot.inbox`, each of which happens wholly or not at all.

KEYS 1..6 of each: ready (lanes by the time from which they may be worked), leases (lanes by the time at
which they run out), tokens (of the leases, by lane), items (by id), starts (by id), cancelled (ids).
"""

from __future__ import annotations

from typing import Final

_NOW: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""

#: KEYS 7 list of the lane, 8.. names. ARGV id, lane, item, seconds to remember.
ACCEPT: Final = (
    _NOW
    + """
for i = 8, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end
end
for i = 8, #KEYS do redis.call('SET', KEYS[i], ARGV[1], 'EX', ARGV[4]) end
redis.call('HSET', KEYS[4], ARGV[1], ARGV[3])
redis.call('RPUSH', KEYS[7], ARGV[1])
if not redis.call('ZSCORE', KEYS[2], ARGV[2]) then redis.call('ZADD', KEYS[1], 'NX', now, ARGV[2]) end
return 1
"""
)

#: ARGV prefix of the lists of lanes, token, lease in ms. Gives item and starts.
TAKE: Final = (
    _NOW
    + """
for _, lane in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  redis.call('ZREM', KEYS[2], lane)
  redis.call('HDEL', KEYS[3], lane)
  redis.call('ZADD', KEYS[1], 'NX', now, lane)
end
while true do
  local lane = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)[1]
  if not lane then return false end
  local id = redis.call('LINDEX', ARGV[1] .. lane, 0)
  local item = id and redis.call('HGET', KEYS[4], id)
  if item then
    redis.call('ZREM', KEYS[1], lane)
    redis.call('ZADD', KEYS[2], now + ARGV[3], lane)
    redis.call('HSET', KEYS[3], lane, ARGV[2])
    return {item, redis.call('HINCRBY', KEYS[5], id, 1)}
  elseif id then
    redis.call('LPOP', ARGV[1] .. lane)
  else
    redis.call('ZREM', KEYS[1], lane)
  end
end
"""
)

#: KEYS 7 list of the lane. ARGV id, lane, token.
FINISH: Final = (
    _NOW
    + """
if redis.call('HGET', KEYS[3], ARGV[2]) ~= ARGV[3] then return 0 end
redis.call('LREM', KEYS[7], 1, ARGV[1])
redis.call('HDEL', KEYS[4], ARGV[1])
redis.call('HDEL', KEYS[5], ARGV[1])
redis.call('HDEL', KEYS[6], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('HDEL', KEYS[3], ARGV[2])
if redis.call('LLEN', KEYS[7]) > 0 then redis.call('ZADD', KEYS[1], now, ARGV[2]) end
return 1
"""
)

#: ARGV lane, token, delay in ms.
RELEASE: Final = (
    _NOW
    + """
if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
return 1
"""
)

#: ARGV id, lane, token, lease in ms. 0: the lease is another's, or the work was cancelled.
RENEW: Final = (
    _NOW
    + """
if redis.call('HGET', KEYS[3], ARGV[2]) ~= ARGV[3] then return 0 end
if redis.call('HEXISTS', KEYS[6], ARGV[1]) == 1 then return 0 end
redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[2])
return 1
"""
)

#: KEYS 7 list of the lane. ARGV id, lane, channel that workers hear.
CANCEL: Final = """
if redis.call('HEXISTS', KEYS[4], ARGV[1]) == 0 then return 0 end
if redis.call('ZSCORE', KEYS[2], ARGV[2]) and redis.call('LINDEX', KEYS[7], 0) == ARGV[1] then
  redis.call('HSET', KEYS[6], ARGV[1], 1)
  redis.call('PUBLISH', ARGV[3], ARGV[1])
  return 2
end
redis.call('LREM', KEYS[7], 1, ARGV[1])
redis.call('HDEL', KEYS[4], ARGV[1])
redis.call('HDEL', KEYS[5], ARGV[1])
return 1
"""
