#!lua name=cellrace_queue_@VERSION@
--[[
The queue of quick matches, one a game. One slot a call, checks first, writes last, repeatable.

  queue:{GAME}          hash   player -> "sid|entry"
  queue:{GAME}:pending  hash   race -> what is known of a match whose race is not made yet

  function      keys    arguments                                        answer
  queue_join    queue   player, sid, entry                               how many wait
  queue_leave   queue   player, sid                                      1 when the player waited by this connection
  queue_pop     queue   race, pending, (player, sid) twice               1 when both waited; 1 again for the same race
  queue_read    queue                                                    {{entry…}, {race, pending…}}
  queue_clear   queue   race                                             how many were removed
]]

local function sid_of(value)
  return value and string.match(value, '^[^|]*') or ''
end

local function queue_join(keys, args)
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
  redis.call('HDEL', keys[1], args[3], args[5])
  redis.call('HSET', pending, args[1], args[2])
  return 1
end

local function queue_read(keys)
  local entries = {}
  for _, value in ipairs(redis.call('HVALS', keys[1])) do entries[#entries + 1] = string.match(value, '|(.*)$') end
  return {entries, redis.call('HGETALL', keys[1] .. ':pending')}
end

local function queue_clear(keys, args)
  return redis.call('HDEL', keys[1] .. ':pending', args[1])
end

redis.register_function('queue_join_@VERSION@', queue_join)
redis.register_function('queue_leave_@VERSION@', queue_leave)
redis.register_function('queue_pop_@VERSION@', queue_pop)
redis.register_function{function_name = 'queue_read_@VERSION@', callback = queue_read, flags = {'no-writes'}}
redis.register_function('queue_clear_@VERSION@', queue_clear)
