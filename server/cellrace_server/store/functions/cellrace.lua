#!lua name=cellrace_@VERSION@
--[[
Races and players; boards.lua has what races leave behind, queue.lua quick matches. Each function is one verb, checks
first and writes last, and is safe to repeat.
Each call touches one slot. KEYS[i] is always the first key of its slot; the others are derived from it:

  race:{ID}               hash    creation, phase (open, countdown, over, cancelled), start_at, limit_at, version, last,
                                  and once the race is packed: packed, "facts:command-id of the last of them"
  race:{ID}:facts         list    one "command-id:at:fact" a version, from version 1 on, or from the first not packed
  race:{ID}:commands      hash    command id -> the version of its first fact
  race:{ID}:entrants      hash    player -> playing, or how the game ended
  race:{ID}:presence      hash    player -> "sid|node|gone_at"; gone_at is empty while connected; of a packed race, who has come since
  race:{ID}:tallies       hash    player -> "seq:home:moves:undos", for lists: what a game has come to without playing it again
  race:{ID}:log:PLAYER    list    one "at:move" an entry
  race:{ID}:packed        string  creation, facts and secret of a race that has ended; these and the logs are then deleted
  race:{ID}:logs          string  the packed logs of its games
  race:{ID}:secret        hash    deal, salt
  race:{ID}:hosts         set     the nodes that host somebody of the race
  race:{ID}:deleted       hash    player who was deleted before the race had ended -> who stands in for the player
  due                     zset    race -> when to look at it, ms; early, never late
  player:{ID}             hash    the player's record; epoch, random, node name the connection that plays, hello_at says since when
  player:{ID}:races       zset    race that is not over -> when it was created, ms
  player:{ID}:deals:GAME  hash    number of a deal that the player has had -> the draw that reserved it

Channels: cellrace:node:NAME, one a node; a message is a MessagePack array of tellings:
  {race, "fact", version, record}    {race, "moves", player, seq, home, moves, undos, at, {entry…}}
  {race, "presence", player, presence}  {player, "superseded", sid}
  {player, "banned"}                                {player, "matched", race, sid}    these two from store/accounts.py and queue.py

  function       keys           arguments                                             answer
  race_create    race           creation                                              1 when new, else 0
  race_append    race           see below                                             {verdict, record…}
  race_commit    race…          see below                                             {{verdict, …}…}
  race_open      race           player, sid, node                                     {verdict, the presence before}
  race_gone      race           player, sid, at, node                                 1 when it was current
  race_load      race           node to register as host, or ""                       see below
  race_head      race                                                                 see below
  race_unhost    race           node…                                                 how many were removed
  race_compact   race           see below                                             1 when done, else 0
  race_stand_in  race           packed as it was read and as it is to be, packed      1, 0 when it is not packed, or -1 when
                                logs, (player, who stands in)…                        it has become another meanwhile
  due_expect     due            race, at                                              0
  due_claim      due            now, claim until, limit                               {race…}
  due_settle     due            race, the claimed score, the next score or ""         1 when still claimed
  player_hello   player         random, node, when it was said                        {epoch, old node, old sid}, {"late"}, {"banned"} or {}
  player_renew   player         sid, random, an epoch to be above                     the new epoch, or "" when sid is not current
  player_mark    player                                                               1, or 0 when there is no such player
  player_enter   player         race, when it was created, most                       1 when it is listed, or 0 when others take
                                                                                      up all the places
  name_swap      name           the value it has, the one it gets, each "" for none   1 when it has that now, else 0
  deal_reserve   deals          number, draw                                          1 when this draw has it, else 0
  deal_release   deals          number, draw                                          1 when this draw had it, else 0
]]

local function tell(base, origin, telling)
  for _, node in ipairs(redis.call('SMEMBERS', base .. ':hosts')) do
    if node ~= origin then redis.call('PUBLISH', 'cellrace:node:' .. node, cmsgpack.pack({telling})) end
  end
end

local function race_id(base)
  return string.match(base, '{(.*)}')
end

local function sid_of(presence)
  return presence and string.match(presence, '^[^|]*') or ''
end

local function epoch_of(sid)
  return tonumber(string.match(sid, '^%d+')) or 0
end

-- How many facts are packed, and the id of the command that the last of them is from.
local function packed_facts(base)
  local packed = redis.call('HGET', base, 'packed')
  if not packed then return 0, '' end
  local count, last = string.match(packed, '^(%d+):(.*)$')
  return tonumber(count), last
end

-- The records after a version, as far as they are not packed.
local function records_after(base, version)
  return redis.call('LRANGE', base .. ':facts', math.max(0, version - packed_facts(base)), -1)
end

-- What is added to a race that has ended goes with it.
local function expire_with(base, ...)
  local ttl = redis.call('PTTL', base)
  if ttl < 0 then return end
  for _, suffix in ipairs({...}) do redis.call('PEXPIRE', base .. suffix, ttl) end
end

-- Appends one fact's record and tells the other hosts.
local function append_fact(base, origin, command, at, fact)
  local record = command .. ':' .. string.format('%.0f', at) .. ':' .. fact
  local version = packed_facts(base) + redis.call('RPUSH', base .. ':facts', record)
  redis.call('HSET', base, 'version', version, 'last', command)
  tell(base, origin, {race_id(base), 'fact', version, record})
  return version
end

local function set_presence(base, origin, player, presence)
  redis.call('HSET', base .. ':presence', player, presence)
  tell(base, origin, {race_id(base), 'presence', player, presence})
end

local function race_create(keys, args)
  if redis.call('HSETNX', keys[1], 'creation', args[1]) == 0 then return 0 end
  redis.call('HSET', keys[1], 'phase', 'open', 'version', 0, 'last', '')
  return 1
end

-- args: command id, version and last command id decided on, at, origin, phase, start_at, limit_at, deal, salt,
--   number of facts, facts…, number of statuses, (player, status, or "" for gone)…, number of guards, (player, seq, sid or "")…;
--   without a seq the guard is that the player who asks has no newer connection than sid
-- answer: {"ok", records after the version decided on…}, {"behind", the same}, {"lost"} (another history),
--   {"moved"} (a guarded log or connection has moved on), {"superseded"}, {"packed"} (some of the records are packed: read the whole
--   race), {"none"} (no such race)
local function race_append(keys, args)
  local base = keys[1]
  local head = redis.call('HMGET', base, 'version', 'last')
  if not head[1] then return {'none'} end
  local command, version, last = args[1], tonumber(args[2]), args[3]
  local packed, packed_last = packed_facts(base)
  if version < packed then return {'packed'} end
  if redis.call('HEXISTS', base .. ':commands', command) == 1 then
    return {'ok', unpack(records_after(base, version))}
  end
  local now_version = tonumber(head[1])
  if now_version ~= version then
    if now_version < version then return {'lost'} end
    if version > 0 then
      local record = version == packed and packed_last or redis.call('LINDEX', base .. ':facts', version - packed - 1)
      if string.match(record, '^[^:]*') ~= last then return {'lost'} end
    end
    return {'behind', unpack(records_after(base, version))}
  end
  if head[2] ~= last then return {'lost'} end
  local count = tonumber(args[11])
  local place = 12 + count
  local statuses = tonumber(args[place])
  local guards_at = place + 1 + 2 * statuses
  for i = 0, tonumber(args[guards_at]) - 1 do
    local player, seq, sid = args[guards_at + 1 + 3 * i], tonumber(args[guards_at + 2 + 3 * i]), args[guards_at + 3 + 3 * i]
    local current = sid_of(redis.call('HGET', base .. ':presence', player))
    if not seq then
      if epoch_of(current) > epoch_of(sid) then return {'superseded'} end
    else
      if redis.call('LLEN', base .. ':log:' .. player) ~= seq then return {'moved'} end
      if sid ~= '' and current ~= sid then return {'moved'} end
    end
  end
  local at = tonumber(args[4])
  redis.call('HSET', base .. ':commands', command, version + 1)
  redis.call('HSET', base, 'phase', args[6], 'start_at', args[7], 'limit_at', args[8])
  if args[9] ~= '' then redis.call('HSET', base .. ':secret', 'deal', args[9], 'salt', args[10]) end
  for i = 0, statuses - 1 do
    local player, status = args[place + 1 + 2 * i], args[place + 2 + 2 * i]
    if status == '' then
      -- The presence stays: whoever comes again at this very moment has been opened already.
      redis.call('HDEL', base .. ':entrants', player)
    else
      redis.call('HSET', base .. ':entrants', player, status)
    end
  end
  for i = 1, count do append_fact(base, args[5], command, at, args[11 + i]) end
  if packed > 0 then expire_with(base, ':facts', ':commands') end
  return {'ok', unpack(records_after(base, version))}
end

-- The entries from seq on, when they are exactly these moves; else nil. Repeats in a packed race are known to the nodes.
local function known_entries(base, player, seq, moves)
  local entries = redis.call('LRANGE', base .. ':log:' .. player, seq, seq + #moves - 1)
  if #entries ~= #moves then return nil end
  for i, move in ipairs(moves) do
    if string.match(entries[i], ':(.*)$') ~= move then return nil end
  end
  return entries
end

-- The checks stand in the order of NODES, 3: connection, repeat, status, phase and limit, seq.
local function commit_one(base, origin, now, entry)
  local player, moves = entry.player, entry.moves
  local presence = redis.call('HGET', base .. ':presence', player)
  if not presence and redis.call('EXISTS', base .. ':packed') == 1 then return {'done'} end
  if sid_of(presence) ~= entry.sid then return {'fenced'} end
  local known = known_entries(base, player, entry.seq, moves)
  if known then
    local at = string.match(known[#known], '^%d+')
    tell(base, origin, {race_id(base), 'moves', player, entry.seq + #moves, entry.home, entry.counted, entry.undos, at, moves})
    return {'repeat', at}
  end
  local status = redis.call('HGET', base .. ':entrants', player)
  if status ~= 'playing' and status ~= 'joined' then return {'done'} end
  local head = redis.call('HMGET', base, 'phase', 'start_at', 'limit_at')
  if head[1] == 'open' then return {'not_started'} end
  if head[1] ~= 'countdown' then return {'not_running'} end
  if entry.at < tonumber(head[2]) then return {'not_started'} end
  if entry.at > tonumber(head[3]) then return {'late'} end
  local log = base .. ':log:' .. player
  local length = redis.call('LLEN', log)
  if length ~= entry.seq then return {'stale', length} end
  local at = math.min(entry.at, now)
  local before = redis.call('LINDEX', log, -1)
  if before then at = math.max(at, tonumber(string.match(before, '^%d+'))) end
  local stamp = string.format('%.0f', at)
  for _, move in ipairs(moves) do redis.call('RPUSH', log, stamp .. ':' .. move) end
  local tally = table.concat({entry.seq + #moves, entry.home, entry.counted, entry.undos}, ':')
  redis.call('HSET', base .. ':tallies', player, tally)
  tell(base, origin, {race_id(base), 'moves', player, entry.seq + #moves, entry.home, entry.counted, entry.undos, stamp, moves})
  local version = 0
  if entry.done ~= '' then
    redis.call('HSET', base .. ':entrants', player, 'won')
    redis.call('HSET', base .. ':commands', entry.command, tonumber(redis.call('HGET', base, 'version')) + 1)
    version = append_fact(base, origin, entry.command, at, entry.done)
  end
  return {'ok', stamp, version}
end

-- args: origin, now, then for each key: player, sid, seq, at, home, counted moves, undos, command id, done fact or "",
--   number of moves, moves…
-- answer, for each key: {"ok", at, version of the done fact or 0}, {"repeat", at}, {"fenced"}, {"done"}, {"not_started"},
--   {"not_running"}, {"late"}, {"stale", seq}, {"error", text}
local function race_commit(keys, args)
  local origin, now, place, answers = args[1], tonumber(args[2]), 3, {}
  for i, base in ipairs(keys) do
    local count = tonumber(args[place + 9])
    local entry = {
      player = args[place], sid = args[place + 1], seq = tonumber(args[place + 2]), at = tonumber(args[place + 3]),
      home = args[place + 4], counted = args[place + 5], undos = args[place + 6], command = args[place + 7],
      done = args[place + 8], moves = {},
    }
    for j = 1, count do entry.moves[j] = args[place + 9 + j] end
    place = place + 10 + count
    local ok, answer = pcall(commit_one, base, origin, now, entry)
    answers[i] = ok and answer or {'error', type(answer) == 'table' and (answer.err or 'unknown') or tostring(answer)}
  end
  return answers
end

-- answer: {"ok", the presence before or ""} or {"superseded", ""}
local function race_open(keys, args)
  local base, player, sid, node = keys[1], args[1], args[2], args[3]
  local presence = redis.call('HGET', base .. ':presence', player)
  if epoch_of(sid_of(presence)) > epoch_of(sid) then return {'superseded', ''} end
  set_presence(base, node, player, sid .. '|' .. node .. '|')
  expire_with(base, ':presence')
  return {'ok', presence or ''}
end

local function race_gone(keys, args)
  local base, player, sid, at, node = keys[1], args[1], args[2], args[3], args[4]
  local presence = redis.call('HGET', base .. ':presence', player)
  if sid_of(presence) ~= sid then return 0 end
  if string.sub(presence, -1) ~= '|' then return 1 end
  set_presence(base, node, player, sid .. '|' .. node .. '|' .. at)
  return 1
end

-- answer: {} when there is no such race, else {creation, {record…}, {player, presence…}, {player, {entry…}…}, ""}, or
--   {"", {record that is not packed…}, {player, presence…}, packed logs, packed race}
local function race_load(keys, args)
  local base = keys[1]
  local creation = redis.call('HGET', base, 'creation')
  if not creation then return {} end
  if args[1] ~= '' then
    redis.call('SADD', base .. ':hosts', args[1])
    expire_with(base, ':hosts')
  end
  local records, presence = records_after(base, 0), redis.call('HGETALL', base .. ':presence')
  local packed = redis.call('GET', base .. ':packed')
  if packed then return {creation, records, presence, redis.call('GET', base .. ':logs') or '', packed} end
  local logs = {}
  for _, player in ipairs(redis.call('HKEYS', base .. ':entrants')) do
    logs[#logs + 1] = player
    logs[#logs + 1] = redis.call('LRANGE', base .. ':log:' .. player, 0, -1)
  end
  return {creation, records, presence, logs, ''}
end

-- answer: {} when there is no such race, else {creation, {record…}, {player, presence…}, {player, tally…}, packed race or ""}
local function race_head(keys, args)
  local base = keys[1]
  local creation = redis.call('HGET', base, 'creation')
  if not creation then return {} end
  local records, presence = records_after(base, 0), redis.call('HGETALL', base .. ':presence')
  return {creation, records, presence, redis.call('HGETALL', base .. ':tallies'), redis.call('GET', base .. ':packed') or ''}
end

local function race_unhost(keys, args)
  return redis.call('SREM', keys[1] .. ':hosts', unpack(args))
end

-- args: ms to live, version and last command id of what was packed, the packed race, the packed logs
-- answer: 1 when it is packed, now or from before; 0 when it has not ended, or not with this version
local function race_compact(keys, args)
  local base = keys[1]
  local head = redis.call('HMGET', base, 'phase', 'version', 'last', 'packed', 'start_at', 'limit_at')
  if head[4] then return 1 end
  if head[1] ~= 'over' and head[1] ~= 'cancelled' then return 0 end
  if head[2] ~= args[2] or head[3] ~= args[3] then return 0 end
  for _, player in ipairs(redis.call('HKEYS', base .. ':entrants')) do redis.call('DEL', base .. ':log:' .. player) end
  -- Presence too: who comes and goes after the end is not noted, so that it would say of everybody for ever what held then.
  for _, suffix in ipairs({':facts', ':commands', ':entrants', ':tallies', ':secret', ':presence'}) do
    redis.call('DEL', base .. suffix)
  end
  redis.call('SET', base .. ':packed', args[4])
  redis.call('SET', base .. ':logs', args[5])
  -- Made anew: a hash that once held something long takes twice the space for ever.
  redis.call('DEL', base)
  redis.call('HSET', base, 'creation', '', 'phase', head[1], 'version', head[2], 'last', head[3])
  redis.call('HSET', base, 'packed', args[2] .. ':' .. args[3], 'start_at', head[5] or '', 'limit_at', head[6] or '')
  redis.call('PEXPIRE', base, args[1])
  expire_with(base, ':packed', ':logs', ':hosts')
  return 1
end

-- Others stand in for players of a packed race, who are deleted; nothing is left to be remembered of these.
local function race_stand_in(keys, args)
  local base = keys[1]
  local packed = redis.call('GET', base .. ':packed')
  if not packed then return 0 end
  if packed ~= args[1] and packed ~= args[2] then return -1 end
  redis.call('SET', base .. ':packed', args[2], 'KEEPTTL')
  redis.call('SET', base .. ':logs', args[3], 'KEEPTTL')
  for i = 4, #args, 2 do
    redis.call('HDEL', base .. ':deleted', args[i])
    local known = redis.call('HGET', base .. ':presence', args[i])
    if known then
      redis.call('HSET', base .. ':presence', args[i + 1], known)
      redis.call('HDEL', base .. ':presence', args[i])
    end
  end
  return 1
end

-- Always leaves another score behind, earlier by 1 ms at least: whoever claimed the race before cannot settle it later
-- without knowing of this.
local function due_expect(keys, args)
  local score, at = redis.call('ZSCORE', keys[1], args[1]), tonumber(args[2])
  redis.call('ZADD', keys[1], score and math.min(at, tonumber(score) - 1) or at, args[1])
  return 0
end

local function due_claim(keys, args)
  local races = redis.call('ZRANGEBYSCORE', keys[1], '-inf', args[1], 'LIMIT', 0, args[3])
  for _, race in ipairs(races) do redis.call('ZADD', keys[1], args[2], race) end
  return races
end

local function due_settle(keys, args)
  local score = redis.call('ZSCORE', keys[1], args[1])
  if not score or tonumber(score) ~= tonumber(args[2]) then return 0 end
  if args[3] == '' then redis.call('ZREM', keys[1], args[1]) else redis.call('ZADD', keys[1], args[3], args[1]) end
  return 1
end

local function player_hello(keys, args)
  local player = keys[1]
  local before = redis.call('HMGET', player, 'epoch', 'random', 'node', 'banned', 'hello_at')
  if redis.call('EXISTS', player) == 0 then return {} end
  if before[4] then return {'banned'} end
  -- One that was held up on its way has been given up by its client, who has come elsewhere since. Not by more than a
  -- minute, for a clock that was set back would keep everybody out.
  local said_at = tonumber(args[3] or '')
  local behind = said_at and before[5] and tonumber(before[5]) - said_at or 0
  if behind > 0 and behind < 60000 then return {'late'} end
  local epoch = redis.call('HINCRBY', player, 'epoch', 1)
  redis.call('HSET', player, 'random', args[1], 'node', args[2])
  if said_at then redis.call('HSET', player, 'hello_at', args[3]) end
  local old_sid = before[1] and before[2] and (before[1] .. '.' .. before[2]) or ''
  if before[3] and before[3] ~= args[2] then
    redis.call('PUBLISH', 'cellrace:node:' .. before[3], cmsgpack.pack({{string.match(player, '{(.*)}'), 'superseded', old_sid}}))
  end
  return {epoch, before[3] or '', old_sid}
end

local function player_renew(keys, args)
  local head = redis.call('HMGET', keys[1], 'epoch', 'random')
  if not head[1] then return '' end
  if head[2] == args[2] then return tonumber(head[1]) end
  if head[1] .. '.' .. head[2] ~= args[1] then return '' end
  local epoch = math.max(tonumber(head[1]), tonumber(args[3])) + 1
  redis.call('HSET', keys[1], 'epoch', epoch, 'random', args[2])
  return epoch
end

-- A bot for good; a player who is deleted at this moment is not made again by it.
local function player_mark(keys)
  if redis.call('HEXISTS', keys[1], 'name') == 0 then return 0 end
  redis.call('HSET', keys[1], 'bot', 1)
  return 1
end

-- The intent to be in a race: counted and listed in one call, so that no two at once find the same place left.
local function player_enter(keys, args)
  local races = keys[1] .. ':races'
  if redis.call('ZSCORE', races, args[1]) then return 1 end
  if redis.call('ZCARD', races) >= tonumber(args[3]) then return 0 end
  redis.call('ZADD', races, args[2], args[1])
  return 1
end

local function name_swap(keys, args)
  local held = redis.call('GET', keys[1]) or ''
  if held == args[2] then return 1 end
  if held ~= args[1] then return 0 end
  if args[2] == '' then redis.call('DEL', keys[1]) else redis.call('SET', keys[1], args[2]) end
  return 1
end

-- Who asks again, as redis-py does when a reply was lost, finds its own draw and is told so.
local function deal_reserve(keys, args)
  if redis.call('HSETNX', keys[1], args[1], args[2]) == 1 then return 1 end
  return redis.call('HGET', keys[1], args[1]) == args[2] and 1 or 0
end

local function deal_release(keys, args)
  if redis.call('HGET', keys[1], args[1]) ~= args[2] then return 0 end
  return redis.call('HDEL', keys[1], args[1])
end

-- Each name carries the version, so that two versions can serve old and new nodes side by side (NODES, 18).
redis.register_function{function_name = 'race_head_@VERSION@', callback = race_head, flags = {'no-writes'}}
redis.register_function('race_create_@VERSION@', race_create)
redis.register_function('race_append_@VERSION@', race_append)
redis.register_function('race_commit_@VERSION@', race_commit)
redis.register_function('race_open_@VERSION@', race_open)
redis.register_function('race_gone_@VERSION@', race_gone)
redis.register_function('race_load_@VERSION@', race_load)
redis.register_function('race_unhost_@VERSION@', race_unhost)
redis.register_function('race_compact_@VERSION@', race_compact)
redis.register_function('race_stand_in_@VERSION@', race_stand_in)
redis.register_function('due_expect_@VERSION@', due_expect)
redis.register_function('due_claim_@VERSION@', due_claim)
redis.register_function('due_settle_@VERSION@', due_settle)
redis.register_function('player_hello_@VERSION@', player_hello)
redis.register_function('player_renew_@VERSION@', player_renew)
redis.register_function('player_mark_@VERSION@', player_mark)
redis.register_function('player_enter_@VERSION@', player_enter)
redis.register_function('name_swap_@VERSION@', name_swap)
redis.register_function('deal_reserve_@VERSION@', deal_reserve)
redis.register_function('deal_release_@VERSION@', deal_release)
