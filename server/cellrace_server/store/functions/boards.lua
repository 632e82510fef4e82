#!lua name=cellrace_boards_@VERSION@
--[[
Boards, ratings, profiles and daily attempts. As in cellrace.lua: one slot a call, checks first, writes last, repeatable.

  board:{NAME}            hash    player -> "value|member"; NAME is best:GAME, daily:DATE:GAME, deal:GAME:NUMBER, streak:GAME, rating:GAME
  board:{NAME}:rows       zset    member "order:player" by value, the lowest best; equal values lie in the order of finishing
  board:{NAME}:people     zset    the same without bots
  board:{NAME}:info       hash    player -> what else the row shows
  board:{deal:…}          hash    of a deal with few rows, which nearly all are, alone: player -> "value|member|bot|what else it shows"
  board:{NAME}:until      zset    player by when the row goes, ms; on boards whose rows do, which are streaks
  board:{rating:GAME}:skills   hash    player -> "mu:sigma:games"
  board:{rating:GAME}:applied  hash    race -> "number:what it did to the skills, as its first applier wrote it"
  board:{rating:GAME}:number   string  the number of the race that was applied last, or of the last rebuilding; they are counted up
  player:{ID}:finished:GAME    zset    "won:race:time" by when it ended; won 1 or 0, time only where it counts for records
  player:{ID}:record:GAME      hash    played, won, streak, best_streak, best_time: what follows from these
  player:{ID}:days:GAME        zset    day with a win in the daily challenge, by when it was won
  daily:{DATE:GAME}:attempts   hash    player -> "race:start_at:made"; made is 1 once the race is on record, else 0

  function           keys      arguments                                            answer
  board_submit       board     player, value, order, bot, info, rule, until or "",  1 when the row is written
                               ms that the board lives from now on, or ""
  board_remove       board     player                                               how many rows went
  board_mark         board     player                                               1 when the player stood among people, who is a bot
  board_prune        board     now                                                  how many rows went, for their time was over
  board_rows         board     people only, offset, limit, player, around           {total, first, {player, value, place, info}…, own row}
  rating_apply       board     race, at, packed, count, (player, before, after, value, or "" for no row, bot)…  {"ok" or "applied", packed} or {"behind"}
  rating_rebuild     board     see below                                            1, or 0 when something was written meanwhile
  player_finished    player    game, race, won, at, time or ""                      1 when it is new
  player_unfinished  player    game, race, won, time or ""                          1 when it was there
  player_recount     player    game                                                 1
  daily_claim        daily     player, race, start_at                               {"1" when new, the attempt}
  daily_made         daily     player, race, start_at                               1
]]

local FEW = 32

local function remove_row(board, player)
  local known = redis.call('HGET', board, player)
  if not known then return 0 end
  local member = string.match(known, '^[^|]*|([^|]*)')
  redis.call('ZREM', board .. ':rows', member)
  redis.call('ZREM', board .. ':people', member)
  redis.call('HDEL', board, player)
  redis.call('HDEL', board .. ':info', player)
  redis.call('ZREM', board .. ':until', player)
  return 1
end

-- There is a board for each deal that was won: most have a row or two, for which three keys more would be a waste.
local function is_short(board)
  return string.find(board, '{deal:', 1, true) and redis.call('EXISTS', board .. ':rows') == 0
end

local function parts_of(short_row)
  return string.match(short_row, '^([^|]*)|([^|]*)|([^|]*)|(.*)$')
end

local function write_row(board, player, value, member, bot, info)
  redis.call('ZADD', board .. ':rows', value, member)
  if bot ~= '1' then redis.call('ZADD', board .. ':people', value, member) end
  redis.call('HSET', board, player, value .. '|' .. member)
  redis.call('HSET', board .. ':info', player, info)
end

local function write_short_row(board, player, value, member, bot, info)
  redis.call('HSET', board, player, table.concat({value, member, bot, info}, '|'))
  if redis.call('HLEN', board) <= FEW then return end
  local rows = redis.call('HGETALL', board)
  for i = 1, #rows, 2 do write_row(board, rows[i], parts_of(rows[i + 1])) end
end

-- Whether a value takes the place of one that is known. By the rule "better": when it is lower, or as low and finished
-- before. "newer", for values that change with each day: when it is from later, or from then and lower. "any": always.
local function replaces(rule, value, order, known)
  local known_value, known_order = string.match(known, '^([^|]*)|(%d+):')
  value, order, known_value, known_order = tonumber(value), tonumber(order), tonumber(known_value), tonumber(known_order)
  if rule == 'better' then return value < known_value or (value == known_value and order < known_order) end
  if rule == 'newer' then return order > known_order or (order == known_order and value < known_value) end
  return true
end

local function submit_row(board, player, value, order, bot, info, rule)
  local known = redis.call('HGET', board, player)
  if known and not replaces(rule, value, order, known) then return 0 end
  remove_row(board, player)
  local member = string.format('%015.0f', tonumber(order)) .. ':' .. player
  local write = is_short(board) and write_short_row or write_row
  write(board, player, value, member, bot, info)
  return 1
end

local function board_submit(keys, args)
  local done = submit_row(keys[1], args[1], args[2], args[3], args[4], args[5], args[6])
  if done == 1 and args[7] ~= '' then redis.call('ZADD', keys[1] .. ':until', args[7], args[1]) end
  if done == 1 and args[8] ~= '' then
    for _, suffix in ipairs({'', ':rows', ':people', ':info'}) do redis.call('PEXPIRE', keys[1] .. suffix, args[8]) end
  end
  return done
end

local function board_remove(keys, args)
  return remove_row(keys[1], args[1])
end

-- Who has become a bot keeps the row, and stands among people no more.
local function board_mark(keys, args)
  local board, player = keys[1], args[1]
  local known = redis.call('HGET', board, player)
  if not known then return 0 end
  if not is_short(board) then return redis.call('ZREM', board .. ':people', string.match(known, '|(.*)$')) end
  local value, member, bot, info = parts_of(known)
  if bot == '1' then return 0 end
  redis.call('HSET', board, player, table.concat({value, member, '1', info}, '|'))
  return 1
end

local function board_prune(keys, args)
  local over = redis.call('ZRANGEBYSCORE', keys[1] .. ':until', '-inf', args[1])
  for _, player in ipairs(over) do remove_row(keys[1], player) end
  return #over
end

local function row(board, rows, member, value)
  local player = string.match(member, ':(.*)$')
  local better = redis.call('ZCOUNT', rows, '-inf', '(' .. value)
  return {player, value, better + 1, redis.call('HGET', board .. ':info', player) or ''}
end

local function short_rows(board, people_only)
  local known, found = redis.call('HGETALL', board), {}
  for i = 1, #known, 2 do
    local value, member, bot, info = parts_of(known[i + 1])
    if not people_only or bot ~= '1' then
      found[#found + 1] = {known[i], value, 0, info, member = member, number = tonumber(value)}
    end
  end
  table.sort(found, function(a, b) return a.number < b.number or (a.number == b.number and a.member < b.member) end)
  for i, one in ipairs(found) do
    local before = found[i - 1]
    one[3] = before and before.number == one.number and before[3] or i
  end
  return found
end

local function first_of(offset, limit, around, own_rank)
  if around ~= '1' then return offset end
  return own_rank and math.max(0, own_rank - math.floor(limit / 2)) or 0
end

local function short_board_rows(board, args)
  local found, own_rank = short_rows(board, args[1] == '1'), nil
  for i, one in ipairs(found) do
    if one[1] == args[4] then own_rank = i - 1 end
  end
  local limit = tonumber(args[3])
  local offset = first_of(tonumber(args[2]), limit, args[5], own_rank)
  local answer = {#found, offset, {}, own_rank and found[own_rank + 1] or {}}
  for i = offset + 1, math.min(#found, offset + limit) do answer[3][#answer[3] + 1] = found[i] end
  return answer
end

local function board_rows(keys, args)
  local board = keys[1]
  if is_short(board) then return short_board_rows(board, args) end
  local rows = board .. (args[1] == '1' and ':people' or ':rows')
  local limit = tonumber(args[3])
  local known = redis.call('HGET', board, args[4])
  local own_member = known and string.match(known, '|(.*)$')
  local own_rank = own_member and redis.call('ZRANK', rows, own_member)
  local offset = first_of(tonumber(args[2]), limit, args[5], own_rank)
  local answer = {redis.call('ZCARD', rows), offset, {}, {}}
  local found = limit > 0 and redis.call('ZRANGE', rows, offset, offset + limit - 1, 'WITHSCORES') or {}
  for i = 1, #found, 2 do answer[3][#answer[3] + 1] = row(board, rows, found[i], found[i + 1]) end
  if own_rank then answer[4] = row(board, rows, own_member, redis.call('ZSCORE', rows, own_member)) end
  return answer
end

local function rating_apply(keys, args)
  local board, race, at, packed = keys[1], args[1], args[2], args[3]
  local stored = redis.call('HGET', board .. ':applied', race)
  if stored then return {'applied', string.sub(stored, string.find(stored, ':', 1, true) + 1)} end
  local count = tonumber(args[4])
  for i = 0, count - 1 do
    local known = redis.call('HGET', board .. ':skills', args[5 + 5 * i]) or ''
    if known ~= args[6 + 5 * i] then return {'behind'} end
  end
  for i = 0, count - 1 do
    local player = args[5 + 5 * i]
    redis.call('HSET', board .. ':skills', player, args[7 + 5 * i])
    if args[8 + 5 * i] ~= '' then submit_row(board, player, args[8 + 5 * i], at, args[9 + 5 * i], '', 'any') end
  end
  redis.call('HSET', board .. ':applied', race, redis.call('INCR', board .. ':number') .. ':' .. packed)
  return {'ok', packed}
end

-- args: the number that the new state rests on, how many races, (race, "number:packed", or "" for one
--   that goes)…, then (player, skill, or "" for one who goes, value, or "" for no row, order, bot)…
local function rating_rebuild(keys, args)
  local board = keys[1]
  if (redis.call('GET', board .. ':number') or '0') ~= args[1] then return 0 end
  local races = tonumber(args[2])
  for i = 3, 1 + 2 * races, 2 do
    if args[i + 1] == '' then
      redis.call('HDEL', board .. ':applied', args[i])
    else
      redis.call('HSET', board .. ':applied', args[i], args[i + 1])
    end
  end
  for i = 3 + 2 * races, #args, 5 do
    remove_row(board, args[i])
    if args[i + 1] == '' then
      redis.call('HDEL', board .. ':skills', args[i])
    else
      redis.call('HSET', board .. ':skills', args[i], args[i + 1])
      if args[i + 2] ~= '' then submit_row(board, args[i], args[i + 2], args[i + 3], args[i + 4], '', 'any') end
    end
  end
  -- Whoever works out another state from what was there before has it worked out anew.
  redis.call('INCR', board .. ':number')
  return 1
end

local function finished_member(won, race, time)
  return won .. ':' .. race .. ':' .. time
end

-- The record as it follows from all finished games.
local function count_anew(player, game)
  local finished, record = player .. ':finished:' .. game, player .. ':record:' .. game
  local played, wins, streak, best, best_time = 0, 0, 0, 0, nil
  for _, member in ipairs(redis.call('ZRANGE', finished, 0, -1)) do
    played = played + 1
    if string.sub(member, 1, 1) == '1' then
      wins, streak = wins + 1, streak + 1
      best = math.max(best, streak)
      local time = tonumber(string.match(member, '[^:]*$'))
      if time then best_time = math.min(time, best_time or time) end
    else
      streak = 0
    end
  end
  redis.call('DEL', record)
  if played == 0 then return end
  redis.call('HSET', record, 'played', played, 'won', wins, 'streak', streak, 'best_streak', best)
  if best_time then redis.call('HSET', record, 'best_time', best_time) end
end

local function player_finished(keys, args)
  local player, game, race, won, at, time = keys[1], args[1], args[2], args[3], args[4], args[5]
  local finished, record = player .. ':finished:' .. game, player .. ':record:' .. game
  local member = finished_member(won, race, time)
  if redis.call('ZADD', finished, 'NX', at, member) == 0 then return 0 end
  local known = redis.call('HMGET', record, 'played', 'won', 'streak', 'best_streak', 'best_time')
  if not known[1] or redis.call('ZREVRANK', finished, member) ~= 0 then
    count_anew(player, game)
    return 1
  end
  -- The last of them: a bot that has finished thousands is not counted through with each game more.
  local streak = won == '1' and known[3] + 1 or 0
  redis.call('HSET', record, 'played', known[1] + 1, 'won', known[2] + won, 'streak', streak)
  redis.call('HSET', record, 'best_streak', math.max(streak, known[4]))
  if time ~= '' and (not known[5] or tonumber(time) < tonumber(known[5])) then
    redis.call('HSET', record, 'best_time', time)
  end
  return 1
end

local function player_unfinished(keys, args)
  local finished = keys[1] .. ':finished:' .. args[1]
  local there = redis.call('ZREM', finished, finished_member(args[3], args[2], args[4]))
  if there == 1 then count_anew(keys[1], args[1]) end
  return there
end

local function player_recount(keys, args)
  count_anew(keys[1], args[1])
  return 1
end

local function daily_claim(keys, args)
  local attempts = keys[1] .. ':attempts'
  local new = redis.call('HSETNX', attempts, args[1], args[2] .. ':' .. args[3] .. ':0')
  return {tostring(new), redis.call('HGET', attempts, args[1])}
end

local function daily_made(keys, args)
  local attempts, attempt = keys[1] .. ':attempts', args[2] .. ':' .. args[3]
  if redis.call('HGET', attempts, args[1]) == attempt .. ':0' then redis.call('HSET', attempts, args[1], attempt .. ':1') end
  return 1
end

redis.register_function{function_name = 'board_rows_@VERSION@', callback = board_rows, flags = {'no-writes'}}
redis.register_function('board_submit_@VERSION@', board_submit)
redis.register_function('board_remove_@VERSION@', board_remove)
redis.register_function('board_mark_@VERSION@', board_mark)
redis.register_function('board_prune_@VERSION@', board_prune)
redis.register_function('rating_rebuild_@VERSION@', rating_rebuild)
redis.register_function('player_unfinished_@VERSION@', player_unfinished)
redis.register_function('rating_apply_@VERSION@', rating_apply)
redis.register_function('player_finished_@VERSION@', player_finished)
redis.register_function('player_recount_@VERSION@', player_recount)
redis.register_function('daily_claim_@VERSION@', daily_claim)
redis.register_function('daily_made_@VERSION@', daily_made)
