#!lua name=cellrace_@VERSION@
--[[
The one function library of cellrace: each function is one verb, checks first and writes last, and is safe to repeat.
Each call touches one slot. KEYS[i] is always the first key of its slot; the others are derived from it:

  race:{ID}               hash    creation, phase (open, countdown, over, cancelled), start_at, limit_at, version, last
  race:{ID}:facts         list    one "command-id:at:fact" a version, from version 1 on
  race:{ID}:commands      hash    command id -> the version of its first fact
  race:{ID}:entrants      hash    player -> playing, or how the game ended
  race:{ID}:presence      hash    player -> "sid|node|gone_at"; gone_at is empty while connected
  race:{ID}:tallies       hash    player -> "seq:home:moves:undos", for lists: what a game has come to without playing it again
  race:{ID}:log:PLAYER    list    one "at:move" an entry
  race:{ID}:replay:PLAYER string  the log of a finished game, entries joined by commas
  race:{ID}:secret        hash    deal, salt
  race:{ID}:hosts         set     the nodes that host somebody of the race
  due                     zset    race -> when to look at it, ms; early, never late
  player:{ID}             hash    the player's record; epoch, random, node name the connection that plays
  player:{ID}:deals:GAME  hash    number of a deal that the player has had -> the draw that reserved it

Channels: cellrace:node:NAME, one a node; a message is a MessagePack array of tellings:
  {race, "fact", version, record}    {race, "moves", player, seq, home, moves, undos, at, {entry…}}
  {race, "presence", player, presence}  {player, "superseded", sid}

  function       keys           arguments                                             answer
  race_create    race           creation                                              1 when new, else 0
  race_append    race           see below                                             {verdict, record…}
  race_commit    race…          see below                                             {{verdict, …}…}
  race_open      race           player, sid, node                                     {verdict, was online}
  race_gone      race           player, sid, at, node                                 1 when it was current
  race_load      race           node to register as host, or ""                       see below
  race_head      race                                                                 see below
  race_unhost    race           node…                                                 how many were removed
  race_compact   race           ms to live                                            1 when done
  due_claim      due            now, claim until, limit                               {race…}
  due_settle     due            race, the claimed score, the next score or ""         1 when still claimed
  player_hello   player         random, node                                          {epoch, old node, old sid}
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

local function records_after(base, version)
  return redis.call('LRANGE', base .. ':facts', version, -1)
end

-- Appends one fact's record and tells the other hosts.
local function append_fact(base, origin, command, at, fact)
  local record = command .. ':' .. string.format('%.0f', at) .. ':' .. fact
  local version = redis.call('RPUSH', base .. ':facts', record)
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
--   number of facts, facts…, number of statuses, (player, status, or "" for gone)…, number of guards, (player, seq, sid or "")…
-- answer: {"ok", records after the version decided on…}, {"behind", the same}, {"lost"} (another history),
--   {"moved"} (a guarded log or connection has moved on), {"none"} (no such race)
local function race_append(keys, args)
  local base = keys[1]
  local head = redis.call('HMGET', base, 'version', 'last')
  if not head[1] then return {'none'} end
  local command, version, last = args[1], tonumber(args[2]), args[3]
  if redis.call('HEXISTS', base .. ':commands', command) == 1 then
    return {'ok', unpack(records_after(base, version))}
  end
  local now_version = tonumber(head[1])
  if now_version ~= version then
    if now_version < version then return {'lost'} end
    if version > 0 then
      local record = redis.call('LINDEX', base .. ':facts', version - 1)
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
    if redis.call('LLEN', base .. ':log:' .. player) ~= seq then return {'moved'} end
    if sid ~= '' and sid_of(redis.call('HGET', base .. ':presence', player)) ~= sid then return {'moved'} end
  end
  local at = tonumber(args[4])
  redis.call('HSET', base .. ':commands', command, version + 1)
  redis.call('HSET', base, 'phase', args[6], 'start_at', args[7], 'limit_at', args[8])
  if args[9] ~= '' then redis.call('HSET', base .. ':secret', 'deal', args[9], 'salt', args[10]) end
  for i = 0, statuses - 1 do
    local player, status = args[place + 1 + 2 * i], args[place + 2 + 2 * i]
    if status == '' then
      redis.call('HDEL', base .. ':entrants', player)
      redis.call('HDEL', base .. ':presence', player)
    else
      redis.call('HSET', base .. ':entrants', player, status)
    end
  end
  for i = 1, count do append_fact(base, args[5], command, at, args[11 + i]) end
  return {'ok', unpack(records_after(base, version))}
end

-- The entries from seq on, when they are exactly these moves; else nil.
local function known_entries(base, player, seq, moves)
  local entries = redis.call('LRANGE', base .. ':log:' .. player, seq, seq + #moves - 1)
  if #entries == 0 then
    local replay = redis.call('GET', base .. ':replay:' .. player)
    if replay then
      local i = 0
      for entry in string.gmatch(replay, '[^,]+') do
        if i >= seq and i < seq + #moves then entries[#entries + 1] = entry end
        i = i + 1
      end
    end
  end
  if #entries ~= #moves then return nil end
  for i, move in ipairs(moves) do
    if string.match(entries[i], ':(.*)$') ~= move then return nil end
  end
  return entries
end

-- The checks stand in the order of NODES, 3: connection, repeat, status, phase and limit, seq.
local function commit_one(base, origin, now, entry)
  local player, moves = entry.player, entry.moves
  if sid_of(redis.call('HGET', base .. ':presence', player)) ~= entry.sid then return {'fenced'} end
  local known = known_entries(base, player, entry.seq, moves)
  if known then
    local at = string.match(known[#known], '^%d+')
    tell(base, origin, {race_id(base), 'moves', player, entry.seq + #moves, entry.home, entry.counted, entry.undos, at, moves})
    return {'repeat', at}
  end
  local status = redis.call('HGET', base .. ':entrants', player)
  if status and status ~= 'playing' then return {'done'} end
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

-- answer: {"ok", "1" when the player was connected already} or {"superseded", ""}
local function race_open(keys, args)
  local base, player, sid, node = keys[1], args[1], args[2], args[3]
  local presence = redis.call('HGET', base .. ':presence', player)
  if epoch_of(sid_of(presence)) > epoch_of(sid) then return {'superseded', ''} end
  local was_online = presence and string.sub(presence, -1) == '|'
  set_presence(base, node, player, sid .. '|' .. node .. '|')
  return {'ok', was_online and '1' or ''}
end

local function race_gone(keys, args)
  local base, player, sid, at, node = keys[1], args[1], args[2], args[3], args[4]
  local presence = redis.call('HGET', base .. ':presence', player)
  if sid_of(presence) ~= sid then return 0 end
  if string.sub(presence, -1) ~= '|' then return 1 end
  set_presence(base, node, player, sid .. '|' .. node .. '|' .. at)
  return 1
end

-- answer: {} when there is no such race, else {creation, {record…}, {player, presence…}, {player, {entry…} or joined entries…}}
local function race_load(keys, args)
  local base = keys[1]
  local creation = redis.call('HGET', base, 'creation')
  if not creation then return {} end
  if args[1] ~= '' then redis.call('SADD', base .. ':hosts', args[1]) end
  local logs = {}
  for _, player in ipairs(redis.call('HKEYS', base .. ':entrants')) do
    logs[#logs + 1] = player
    logs[#logs + 1] = redis.call('GET', base .. ':replay:' .. player) or redis.call('LRANGE', base .. ':log:' .. player, 0, -1)
  end
  return {creation, records_after(base, 0), redis.call('HGETALL', base .. ':presence'), logs}
end

-- answer: {} when there is no such race, else {creation, {record…}, {player, presence…}, {player, tally…}}
local function race_head(keys, args)
  local base = keys[1]
  local creation = redis.call('HGET', base, 'creation')
  if not creation then return {} end
  return {creation, records_after(base, 0), redis.call('HGETALL', base .. ':presence'), redis.call('HGETALL', base .. ':tallies')}
end

local function race_unhost(keys, args)
  return redis.call('SREM', keys[1] .. ':hosts', unpack(args))
end

local function race_compact(keys, args)
  local base, ttl = keys[1], args[1]
  local phase = redis.call('HGET', base, 'phase')
  if phase ~= 'over' and phase ~= 'cancelled' then return 0 end
  for _, player in ipairs(redis.call('HKEYS', base .. ':entrants')) do
    local log, replay = base .. ':log:' .. player, base .. ':replay:' .. player
    local entries = redis.call('LRANGE', log, 0, -1)
    if #entries > 0 then redis.call('SET', replay, table.concat(entries, ',')) end
    redis.call('DEL', log)
    redis.call('PEXPIRE', replay, ttl)
  end
  for _, suffix in ipairs({'', ':facts', ':commands', ':entrants', ':presence', ':tallies', ':secret', ':hosts'}) do
    redis.call('PEXPIRE', base .. suffix, ttl)
  end
  return 1
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
  local before = redis.call('HMGET', player, 'epoch', 'random', 'node')
  if redis.call('EXISTS', player) == 0 then return {} end
  local epoch = redis.call('HINCRBY', player, 'epoch', 1)
  redis.call('HSET', player, 'random', args[1], 'node', args[2])
  local old_sid = before[1] and before[2] and (before[1] .. '.' .. before[2]) or ''
  if before[3] and before[3] ~= args[2] then
    redis.call('PUBLISH', 'cellrace:node:' .. before[3], cmsgpack.pack({{string.match(player, '{(.*)}'), 'superseded', old_sid}}))
  end
  return {epoch, before[3] or '', old_sid}
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
redis.register_function('due_claim_@VERSION@', due_claim)
redis.register_function('due_settle_@VERSION@', due_settle)
redis.register_function('player_hello_@VERSION@', player_hello)
redis.register_function('deal_reserve_@VERSION@', deal_reserve)
redis.register_function('deal_release_@VERSION@', deal_release)
