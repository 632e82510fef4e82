#!lua name=cellrace_boards_@VERSION@
--[[
Boards, ratings, profiles and daily attempts. As in cellrace.lua: one slot a call, checks first, writes last, repeatable.

  board:{NAME}            hash    player -> "value|member"; NAME is best:GAME, daily:DATE:GAME, deal:GAME:NUMBER, streak:GAME, rating:GAME
  board:{NAME}:rows       zset    member "order:player" by value, the lowest best; equal values lie in the order of finishing
  board:{NAME}:people     zset    the same without bots
  board:{NAME}:info       hash    player -> what else the row shows
  board:{rating:GAME}:skills   hash  player -> "mu:sigma:games"
  board:{rating:GAME}:applied  hash  race -> what it did to the skills, as its first applier wrote it
  player:{ID}:finished:GAME    zset  "won:race" by when it ended, won 1 or 0
  player:{ID}:record:GAME      hash  played, won, streak, best_streak, best_time
  daily:{DATE:GAME}:attempts   hash  player -> "race:start_at"

  function         keys      arguments                                              answer
  board_submit     board     player, value, order, bot, info, replace               1 when the row is new or better
  board_remove     board     player                                                 how many rows went
  board_rows       board     people only, offset, limit, player, around             {total, first, {player, value, place, info}…, own row}
  rating_apply     board     race, at, packed, number, (player, before, after, value, bot)…  {"ok" or "applied", packed} or {"behind"}
  player_finished  player    game, race, won, at, time or ""                        1
  daily_claim      daily     player, race, start_at                                 {"1" when new, "race:start_at"}
]]

local function remove_row(board, player)
  local known = redis.call('HGET', board, player)
  if not known then return 0 end
  local member = string.match(known, '|(.*)$')
  redis.call('ZREM', board .. ':rows', member)
  redis.call('ZREM', board .. ':people', member)
  redis.call('HDEL', board, player)
  redis.call('HDEL', board .. ':info', player)
  return 1
end

local function submit_row(board, player, value, order, bot, info, replace)
  local known = redis.call('HGET', board, player)
  if known and not replace and tonumber(string.match(known, '^[^|]*')) <= tonumber(value) then return 0 end
  remove_row(board, player)
  local member = string.format('%015.0f', tonumber(order)) .. ':' .. player
  redis.call('ZADD', board .. ':rows', value, member)
  if bot ~= '1' then redis.call('ZADD', board .. ':people', value, member) end
  redis.call('HSET', board, player, value .. '|' .. member)
  redis.call('HSET', board .. ':info', player, info)
  return 1
end

local function board_submit(keys, args)
  return submit_row(keys[1], args[1], args[2], args[3], args[4], args[5], args[6] == '1')
end

local function board_remove(keys, args)
  return remove_row(keys[1], args[1])
end

local function row(board, rows, member, value)
  local player = string.match(member, ':(.*)$')
  local better = redis.call('ZCOUNT', rows, '-inf', '(' .. value)
  return {player, value, better + 1, redis.call('HGET', board .. ':info', player) or ''}
end

local function board_rows(keys, args)
  local board = keys[1]
  local rows = board .. (args[1] == '1' and ':people' or ':rows')
  local offset, limit = tonumber(args[2]), tonumber(args[3])
  local known = redis.call('HGET', board, args[4])
  local own_member = known and string.match(known, '|(.*)$')
  local own_rank = own_member and redis.call('ZRANK', rows, own_member)
  if args[5] == '1' then
    offset = own_rank and math.max(0, own_rank - math.floor(limit / 2)) or 0
  end
  local answer = {redis.call('ZCARD', rows), offset, {}, {}}
  local found = limit > 0 and redis.call('ZRANGE', rows, offset, offset + limit - 1, 'WITHSCORES') or {}
  for i = 1, #found, 2 do answer[3][#answer[3] + 1] = row(board, rows, found[i], found[i + 1]) end
  if own_rank then answer[4] = row(board, rows, own_member, redis.call('ZSCORE', rows, own_member)) end
  return answer
end

local function rating_apply(keys, args)
  local board, race, at, packed = keys[1], args[1], args[2], args[3]
  local stored = redis.call('HGET', board .. ':applied', race)
  if stored then return {'applied', stored} end
  local count = tonumber(args[4])
  for i = 0, count - 1 do
    local known = redis.call('HGET', board .. ':skills', args[5 + 5 * i]) or ''
    if known ~= args[6 + 5 * i] then return {'behind'} end
  end
  for i = 0, count - 1 do
    local player = args[5 + 5 * i]
    redis.call('HSET', board .. ':skills', player, args[7 + 5 * i])
    submit_row(board, player, args[8 + 5 * i], at, args[9 + 5 * i], '', true)
  end
  redis.call('HSET', board .. ':applied', race, packed)
  return {'ok', packed}
end

local function player_finished(keys, args)
  local player, game, race, won, at, time = keys[1], args[1], args[2], args[3], args[4], args[5]
  local finished, record = player .. ':finished:' .. game, player .. ':record:' .. game
  redis.call('ZADD', finished, at, won .. ':' .. race)
  local played, wins, streak, best = 0, 0, 0, 0
  for _, member in ipairs(redis.call('ZRANGE', finished, 0, -1)) do
    played = played + 1
    if string.sub(member, 1, 1) == '1' then
      wins, streak = wins + 1, streak + 1
      best = math.max(best, streak)
    else
      streak = 0
    end
  end
  redis.call('HSET', record, 'played', played, 'won', wins, 'streak', streak, 'best_streak', best)
  if time ~= '' then
    local known = redis.call('HGET', record, 'best_time')
    if not known or tonumber(time) < tonumber(known) then redis.call('HSET', record, 'best_time', time) end
  end
  return 1
end

local function daily_claim(keys, args)
  local attempts = keys[1] .. ':attempts'
  local new = redis.call('HSETNX', attempts, args[1], args[2] .. ':' .. args[3])
  return {tostring(new), redis.call('HGET', attempts, args[1])}
end

redis.register_function{function_name = 'board_rows_@VERSION@', callback = board_rows, flags = {'no-writes'}}
redis.register_function('board_submit_@VERSION@', board_submit)
redis.register_function('board_remove_@VERSION@', board_remove)
redis.register_function('rating_apply_@VERSION@', rating_apply)
redis.register_function('player_finished_@VERSION@', player_finished)
redis.register_function('daily_claim_@VERSION@', daily_claim)
