import { CLAIMS_KEPT_PER_ENTRY } from '../claim-protocol.js';
import { script, TAKE_LEASE } from './redis-scripts.js';

/** Rows that may pile up beside the kept ones before a claim removes what is to be removed: then most claims remove nothing. */
const CLAIMS_BETWEEN_SWEEPS = 128;
/** A sweep reads all rows of its entry, some 0.3 ms for the largest; with more of them a script would hold the server too long. */
const SWEEPS_PER_SCRIPT = 4;

/** What a claim script answers for one claim, one digit each. */
export const CLAIM_CODE = {
  refused: '0',
  granted: '1',
  early: '2',
  superseded: '3',
  later: '4',
  unusable: '5',
  paused: '6',
  overlap: '7',
} as const;

/**
 * The row of a claim that can be taken over has its attempt and its expiry after it: `<made>:<claim id>:<instance id>;<attempt>;<expires>`. Finished, it is as plain as any other. One whose pass
 * was told that the overlap lease is held ends in `;0`: it lies as plain ones do, until its own pass asks again and gets the lease.
 *
 * A head begins with `P<paused since> ` while its entry is paused, and is nothing else where it was never claimed.
 */
export const ROWS = `
local function unfinished(row) return row and string.match(row, ';%d+;%d+$') end
local function plain(row) return string.match(row, '^[^;]*') end

-- The pause of a head, empty where there is none, and the rest, nil where there is none.
local function parts(head)
  local pause, rest = string.match(head or '', '^(P%d+ )(.*)$')
  rest = rest or head
  return pause or '', rest ~= '' and rest
end

-- From here on nobody takes the claim over, and it is removed as any other: the head, which left it out of account, must know how old it is.
local function done(entry, index, instant, member, row)
  redis.call('ZREM', index, member)
  local head, made = redis.call('HGET', entry, 'head'), string.match(row, '^%d+')
  local pause, rest = parts(head)
  local before, oldest, after = string.match(rest or '', '^(%d+ %S+ )(%S+)( .*)$')
  if before and tonumber(made) < tonumber(oldest) then
    redis.call('HSET', entry, instant, plain(row), 'head', pause .. before .. made .. after)
  else
    redis.call('HSET', entry, instant, plain(row))
  end
end`;

/**
 * The claim protocol for one claim, which every script that claims has in it. ARGV begin with deadline, maxClockSkew, retention.
 *
 * A hash has one field per claim, instant → `<made>:<claim id>:<instance id>`, and two more, whose numbers have fixed places where they are read often:
 * - `head`: claims left before the next sweep is due (3 digits), watermark (13), a lower bound of the oldest `made` of those that may be removed (13), fingerprint of the watermark;
 * - `swept`, from the first sweep on: rows at which the next sweep is due, floor, and the instant from which on no row can be beyond the newest ${CLAIMS_KEPT_PER_ENTRY} until then.
 *
 * What is to be removed is removed by a sweep, every ${CLAIMS_BETWEEN_SWEEPS} claims of an entry, which raises the floor. In between, a row that is past its time is treated as removed, and
 * an instant without a row is granted only above the watermark, where neither a row nor a floor can be, or where nothing is to be removed; else the sweep comes first. So answers are
 * exact at all times, though most claims that are granted cost one HGET and one HSET. A claim that can still be taken over counts among the newest, and is itself never removed.
 */
const DECIDE = `${ROWS}
local call, pcall, match, sub, number = redis.call, redis.pcall, string.match, string.sub, tonumber
local KEPT, BETWEEN, NEVER = ${CLAIMS_KEPT_PER_ENTRY}, ${CLAIMS_BETWEEN_SWEEPS}, 9999999999999
local latest, cutoff, sweeps = now + ARGV[2], now - ARGV[3], ${SWEEPS_PER_SCRIPT}
local function digits(n) return string.format('%013.0f', n) end
local made, since = digits(now) .. ':', ' ' .. digits(now) .. ' '
local left, watermark, oldest, schedule, pause, due, floor, safe

local function heads() return pause .. string.format('%03d ', left) .. digits(watermark) .. ' ' .. digits(oldest) .. ' ' .. schedule end

-- Rows at which the first sweep of an entry is due. Entries that are always claimed together come to theirs at different times, so that no script has many sweeps.
local function firstDue(key)
  local x, y, z = string.byte(key, -3, -1)
  return BETWEEN + (x * 100 + y * 10 + z) % BETWEEN
end

local function sweep(key)
  if sweeps == 0 then return false end
  sweeps = sweeps - 1
  local kept, gone, highest = {}, {}, number(floor)
  if oldest < cutoff then
    oldest = NEVER
    local all = call('HGETALL', key)
    for j = 1, #all, 2 do
      local at = number(all[j])
      if at then
        local madeAt = not unfinished(all[j + 1]) and number(sub(all[j + 1], 1, 13))
        if madeAt and madeAt < cutoff then
          gone[#gone + 1] = all[j]
          if at > highest then highest = at end
        else
          kept[#kept + 1] = at
          if madeAt and madeAt < oldest then oldest = madeAt end
        end
      end
    end
  else
    for _, field in ipairs(call('HKEYS', key)) do kept[#kept + 1] = number(field) end
  end
  table.sort(kept)
  local beyond, removed = math.max(0, #kept - KEPT), #gone
  for j = 1, beyond, 1000 do
    local fields = {}
    for i = j, math.min(j + 999, beyond) do fields[#fields + 1] = whole(kept[i]) end
    for i, row in ipairs(call('HMGET', key, unpack(fields))) do
      if not unfinished(row) then
        gone[#gone + 1] = fields[i]
        if kept[j + i - 1] > highest then highest = kept[j + i - 1] end
      end
    end
  end
  removed = #gone - removed
  for j = 1, #gone, 1000 do call('HDEL', key, unpack(gone, j, math.min(j + 999, #gone))) end
  left, due = BETWEEN, #kept - removed + BETWEEN
  floor = highest == -math.huge and '-inf' or whole(highest)
  local clear = kept[math.max(beyond + 1, #kept - (KEPT - BETWEEN) + 1)]
  safe = clear and whole(clear) or '-inf'
  call('HSET', key, 'head', heads(), 'swept', due .. ' ' .. floor .. ' ' .. safe)
  return true
end

local function decide(key, instant, at, id, instance, fingerprint, head)
  if head and head.err then return ${CLAIM_CODE.unusable} end
  local row
  pause, head = parts(head)
  if head then
    row = call('HGET', key, instant)
    left, watermark, oldest, schedule = match(head, '^(%d+) (%S+) (%S+) (.*)$')
    left, watermark, oldest = number(left), number(watermark), number(oldest)
  else
    left, watermark, oldest, schedule = firstDue(key), -math.huge, NEVER, ''
  end
  due, floor, safe = match(head and call('HGET', key, 'swept') or firstDue(key) .. ' -inf -inf', '^(%d+) (%S+) (%S+)$')
  due = number(due)
  if row then
    if not unfinished(row) then
      if number(sub(row, 1, 13)) < cutoff then return ${CLAIM_CODE.superseded} end
      if due - left > KEPT and at < number(safe) then
        if not sweep(key) then return ${CLAIM_CODE.later} end
        if call('HEXISTS', key, instant) == 0 then return ${CLAIM_CODE.superseded} end
      end
    end
    return match(row, '^[^:]*:([^:]*)') == id and ${CLAIM_CODE.granted} or ${CLAIM_CODE.refused}, row
  end
  if at <= watermark then
    if at <= number(floor) then return ${CLAIM_CODE.superseded} end
    if due - left > KEPT or oldest < cutoff then
      if not sweep(key) then return ${CLAIM_CODE.later} end
      if at <= number(floor) then return ${CLAIM_CODE.superseded} end
    end
  end
  if pause ~= '' then return ${CLAIM_CODE.paused} end
  if left == 0 and not sweep(key) then return ${CLAIM_CODE.later} end
  left = left - 1
  if at > watermark then watermark, schedule = at, fingerprint end
  if now < oldest then oldest = now end
  call('HSET', key, 'head', heads(), instant, made .. id .. instance)
  return ${CLAIM_CODE.granted}
end`;

/**
 * Claims that take nothing with them. KEYS: the entry's hash, one per claim. ARGV: deadline, maxClockSkew, retention; then in groups: instant, fingerprint of the schedule, instance id, length of a
 * claim id, and the claim ids in one text. A turn is mostly one group, so a claim costs little more than its key. Of one entry the lowest instant comes first. Answers a digit per claim.
 */
export const CLAIM_SCRIPT = script(`${DECIDE}
-- What is left after one more claim; nothing after 000, when a sweep is due, nor of a head that is paused.
local before = setmetatable({ ['000'] = false }, { __index = function(known, left)
  local claims = number(left)
  known[left] = claims and string.format('%03d', claims - 1) or false
  return known[left]
end })
local answers, k, a = {}, 0, 4
while k < #KEYS do
  local instant, fingerprint, instance, size, ids = ARGV[a], ARGV[a + 1], ':' .. ARGV[a + 2], number(ARGV[a + 3]), ARGV[a + 4]
  local at = number(instant)
  local placed, watermark = #instant == 13, ' ' .. instant
  for from = 1, #ids, size do
    k = k + 1
    local key, id = KEYS[k], sub(ids, from, from + size - 1)
    if at > latest then
      answers[k] = ${CLAIM_CODE.early}
    else
      local head = pcall('HGET', key, 'head')
      local left = placed and head and not head.err and before[sub(head, 1, 3)]
      if placed and not head then
        call('HSET', key, 'head', before[firstDue(key)] .. watermark .. since .. fingerprint, instant, made .. id .. instance)
        answers[k] = ${CLAIM_CODE.granted}
      elseif left and at > number(sub(head, 5, 17)) and now >= number(sub(head, 19, 31)) then
        -- The way of nearly all claims that are granted: the newest instant of an entry with a history.
        call('HSET', key, 'head', left .. watermark .. sub(head, 18, 32) .. fingerprint, instant, made .. id .. instance)
        answers[k] = ${CLAIM_CODE.granted}
      else
        answers[k] = decide(key, instant, at, id, instance, fingerprint, head)
      end
    end
  end
  a = a + 5
end
return answer(table.concat(answers))`);

/**
 * Claims that take leases with them, also mixed with plain ones of the same entries. KEYS: entry, overlap lease and recovery index for each claim. ARGV: deadline, maxClockSkew, retention; then for
 * each claim: instant, fingerprint of the schedule, instance id, claim id, the same as it is (owner of the lease), life of the overlap lease and of recovery (nothing: not asked for), member of the
 * index. Of one entry the lowest instant comes first. Answers a code per claim, with the token of the lease after a colon, separated by commas.
 */
export const HOLDING_CLAIM_SCRIPT = script(`${DECIDE}
${TAKE_LEASE}
local function claim(key, lease, index, instant, fingerprint, instance, id, owner, overlapTtl, recoveryTtl, member)
  local at = number(instant)
  if at > latest then return ${CLAIM_CODE.early} end
  local held = overlapTtl ~= '' and pcall('HMGET', lease, 'owner', 'token', 'expires')
  if held and held.err then return ${CLAIM_CODE.unusable} .. ':lease' end
  local free = not held or freeFor(held, owner)
  local lasting = recoveryTtl ~= ''
  local expires = lasting and whole(now + recoveryTtl)
  local state = lasting and (free and ';1;' .. expires or ';0') or ''
  local code, row = decide(key, instant, at, id, ':' .. instance .. state, fingerprint, pcall('HGET', key, 'head'))
  if code ~= ${CLAIM_CODE.granted} then return code end

  if lasting then
    local attempt = row and match(row, ';(%d+)')
    if free then
      -- Asked again, it lives on; what was finished in the meantime stays so.
      if row and attempt then
        call('HSET', key, instant, plain(row) .. ';' .. math.max(1, number(attempt)) .. ';' .. expires)
      end
      if not row or attempt then call('ZADD', index, expires, member) end
    elseif unfinished(row) then
      -- Its lease was lost before the pass knew that it was granted.
      done(key, index, instant, member, row)
      call('HSET', key, instant, plain(row) .. ';0')
    end
  end
  if not held then return code end
  return free and code .. ':' .. take(lease, held, owner, overlapTtl) or ${CLAIM_CODE.overlap}
end

local answers = {}
for i = 1, #KEYS / 3 do
  answers[i] = claim(KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i], unpack(ARGV, 8 * i - 4, 8 * i + 3))
end
return answer(table.concat(answers, ','))`);

/** KEYS: entries. Answers JSON: per entry its watermark and fingerprint, or false. */
export const LAST_FIRE_SCRIPT = script(`${ROWS}
local found = {}
for i = 1, #KEYS do
  local head = redis.call('HGET', KEYS[i], 'head')
  local watermark, schedule
  local _, rest = parts(head)
  if rest then watermark, schedule = string.match(rest, '^%S+ (%S+) %S+ (.*)$') end
  found[i] = watermark and { watermark, schedule } or false
end
return answer(cjson.encode(found))`);

/** KEYS: entry. Does nothing where it is paused already. */
export const PAUSE_SCRIPT = script(`
local head = redis.call('HGET', KEYS[1], 'head') or ''
if string.sub(head, 1, 1) ~= 'P' then redis.call('HSET', KEYS[1], 'head', 'P' .. string.format('%013.0f', now) .. ' ' .. head) end
return answer('')`);

/** KEYS: entry. ARGV: deadline, 1 to leave the watermark as it is. Answers since when it was paused, or nothing. */
export const RESUME_SCRIPT = script(`${ROWS}
local pause, rest = parts(redis.call('HGET', KEYS[1], 'head'))
if pause == '' then return answer('') end
if not rest then
  redis.call('HDEL', KEYS[1], 'head')
else
  local before, watermark, after = string.match(rest, '^(%S+ )(%S+)( .*)$')
  if ARGV[2] ~= '1' and now > tonumber(watermark) then rest = before .. string.format('%013.0f', now) .. after end
  redis.call('HSET', KEYS[1], 'head', rest)
end
return answer(string.match(pause, '%d+'))`);

/** KEYS: entry, recovery index. ARGV: deadline, entry key. */
export const FORGET_SCRIPT = script(`${ROWS}
local all = redis.call('HGETALL', KEYS[1])
for j = 1, #all, 2 do
  if unfinished(all[j + 1]) then redis.call('ZREM', KEYS[2], all[j] .. ':' .. ARGV[2]) end
end
redis.call('DEL', KEYS[1])
return answer('')`);
