#!lua name=cellrace_queue_@VERSION@
--[[
The queue of quick matches, one a game. One slot a call, checks first, writes last, repeatable.

  queue:{GAME}          hash   player -> "sid|entry"
  queue:{GAME}:pending  hash   race -> what is known of a match whose race is not made yet
  queue:{GAME}:matched  zset   id of a command by which somebody waited who was matched in the last while -> when, ms

  function        keys    arguments                                      answer
  queue_join      queue   player, sid, entry, command id                 how many wait; who has been matched meanwhile
                                                                         does not wait again by the same command
  queue_leave     queue   player, sid                                    1 when the player waited by this connection
  queue_pop       queue   race, pending, (player, sid) twice             1 when both waited; 1 again for the same race
  queue_read      queue                                                  {{entry…}, {race, pending…}}
  queue_clear     queue   race                                           how many were removed
  queue_call_off  queue   race, (player, sid, entry) of who waits on…    1 when the match was pending
]]

-- For longer than a node sends a command again.
local MATCHED_KEPT = 60000

local function sid_of(value)
  return value and string.match(value, '^[^|]*') or ''
end

local function entry_of(value)
  return string.match(value, '|(.*)$')
end

-- By which command somebody waits; none where a node of an older version has put the entry there.
local function command_of(entry)
  return cjson.decode(entry).command_id or ''
end

local function queue_join(keys, args)
  if args[4] and redis.call('ZSCORE', keys[1] .. ':matched', args[4]) then return redis.call('HLEN', keys[1]) end
  redis.call('HSET', keys[1], args[1], args[2] .. '|' .. args[3])
  return redis.call('HLEN', keys[1])
end

local function queue_leave(keys, args)
  if sid_of(redis.call('HGET', keys[1], args[1])) ~= args[2] then return 0 end
  return redis.call('HDEL', keys[1], args[1])
end

local function queue_pop(keys, args)
  local pending = keys[1] .. ':pending'
  if redis.call('HEXISTS', pending, args[1]) == 1 then return 1 end
  for i = 3, 5, 2 do
    if sid_of(redis.call('HGET', keys[1], args[i])) ~= args[i + 1] then return 0 end
  end
  local at, matched = cjson.decode(args[2]).at, keys[1] .. ':matched'
  for i = 3, 5, 2 do
    local command = command_of(entry_of(redis.call('HGET', keys[1], args[i])))
    if command ~= '' then redis.call('ZADD', matched, at, command) end
  end
  local old = redis.call('ZCOUNT', matched, '-inf', at - MATCHED_KEPT)
  if old > 0 then redis.call('ZREMRANGEBYRANK', matched, 0, old - 1) end
  redis.call('HDEL', keys[1], args[3], args[5])
  redis.call('HSET', pending, args[1], args[2])
  return 1
end

local function queue_read(keys)
  local entries = {}
  for _, value in ipairs(redis.call('HVALS', keys[1])) do entries[#entries + 1] = entry_of(value) end
  return {entries, redis.call('HGETALL', keys[1] .. ':pending')}
end

local function queue_clear(keys, args)
  return redis.call('HDEL', keys[1] .. ':pending', args[1])
end

-- A match whose race will not be made; who goes on waiting does so from when it was, unless there is a newer entry.
local function queue_call_off(keys, args)
  if redis.call('HDEL', keys[1] .. ':pending', args[1]) == 0 then return 0 end
  for i = 2, #args, 3 do
    redis.call('ZREM', keys[1] .. ':matched', command_of(args[i + 2]))
    redis.call('HSETNX', keys[1], args[i], args[i + 1] .. '|' .. args[i + 2])
  end
  return 1
end

redis.register_function('queue_join_@VERSION@', queue_join)
redis.register_function('queue_leave_@VERSION@', queue_leave)
redis.register_function('queue_pop_@VERSION@', queue_pop)
redis.register_function{function_name = 'queue_read_@VERSION@', callback = queue_read, flags = {'no-writes'}}
redis.register_function('queue_clear_@VERSION@', queue_clear)
redis.register_function('queue_call_off_@VERSION@', queue_call_off)
