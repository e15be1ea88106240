import { createHash } from 'node:crypto';
import { CLAIMS_KEPT_PER_ENTRY } from '../claim-protocol.js';

/** A Lua script and the name by which a server that has seen it knows it. */
export interface RedisScript {
  readonly source: string;
  readonly sha: string;
}

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
} as const;

/**
 * How every script begins and answers. ARGV[1] is the store's time after which nobody waits for the answer: a command that lay in a client's queue longer
 * must do nothing. The answer is the store's time in milliseconds, then a space and what the script has to say; without the space it came too late.
 */
function script(body: string): RedisScript {
  const source = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function whole(n) return string.format('%.0f', n) end
local function answer(text) return whole(now) .. ' ' .. text end
if now > tonumber(ARGV[1]) then return whole(now) end
${body.trim()}
`;
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

export const NOW_SCRIPT = script(`return answer('')`);

/** The eviction policy, or nothing where the server does not tell. */
export const EVICTION_SCRIPT = script(`
local info = redis.pcall('INFO', 'memory')
return answer(type(info) == 'string' and string.match(info, 'maxmemory_policy:(%S+)') or '')`);

/**
 * The claim protocol. KEYS: the entry's hash, one per claim. ARGV: deadline, maxClockSkew, retention; then in groups: instant, fingerprint of the schedule, instance id, length of a claim
 * id, and the claim ids in one text. A turn is mostly one group, so a claim costs little more than its key. Of one entry the lowest instant comes first. Answers a digit per claim.
 *
 * A hash has one field per claim, instant → `<made>:<claim id>:<instance id>`, and two more, whose numbers have fixed places where they are read often:
 * - `head`: claims left before the next sweep is due (3 digits), watermark (13), a lower bound of the oldest `made` (13), fingerprint of the watermark;
 * - `swept`, from the first sweep on: rows at which the next sweep is due, floor, and the instant from which on no row can be beyond the newest ${CLAIMS_KEPT_PER_ENTRY} until then.
 *
 * What is to be removed is removed by a sweep, every ${CLAIMS_BETWEEN_SWEEPS} claims of an entry, which raises the floor. In between, a row that is past its time is treated as removed, and
 * an instant without a row is granted only above the watermark, where neither a row nor a floor can be, or where nothing is to be removed; else the sweep comes first. So answers are
 * exact at all times, though most claims that are granted cost one HGET and one HSET.
 */
export const CLAIM_SCRIPT = script(`
local call, pcall, match, sub, number = redis.call, redis.pcall, string.match, string.sub, tonumber
local KEPT, BETWEEN, NEVER = ${CLAIMS_KEPT_PER_ENTRY}, ${CLAIMS_BETWEEN_SWEEPS}, 9999999999999
local latest, cutoff, sweeps = now + ARGV[2], now - ARGV[3], ${SWEEPS_PER_SCRIPT}
local function digits(n) return string.format('%013.0f', n) end
local made, since = digits(now) .. ':', ' ' .. digits(now) .. ' '
local left, watermark, oldest, schedule, due, floor, safe

local function heads() return string.format('%03d ', left) .. digits(watermark) .. ' ' .. digits(oldest) .. ' ' .. schedule end

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
        local madeAt = number(sub(all[j + 1], 1, 13))
        if madeAt < cutoff then
          gone[#gone + 1] = all[j]
          if at > highest then highest = at end
        else
          kept[#kept + 1] = at
          if madeAt < oldest then oldest = madeAt end
        end
      end
    end
  else
    for _, field in ipairs(call('HKEYS', key)) do kept[#kept + 1] = number(field) end
  end
  table.sort(kept)
  local beyond = math.max(0, #kept - KEPT)
  for j = 1, beyond do
    gone[#gone + 1] = whole(kept[j])
    if kept[j] > highest then highest = kept[j] end
  end
  for j = 1, #gone, 1000 do call('HDEL', key, unpack(gone, j, math.min(j + 999, #gone))) end
  left, due = BETWEEN, #kept - beyond + BETWEEN
  floor = highest == -math.huge and '-inf' or whole(highest)
  local clear = kept[math.max(beyond + 1, #kept - (KEPT - BETWEEN) + 1)]
  safe = clear and whole(clear) or '-inf'
  call('HSET', key, 'head', heads(), 'swept', due .. ' ' .. floor .. ' ' .. safe)
  return true
end

local function decide(key, instant, at, id, instance, fingerprint, head)
  if head and head.err then return ${CLAIM_CODE.unusable} end
  local row
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
    if number(sub(row, 1, 13)) < cutoff then return ${CLAIM_CODE.superseded} end
    if due - left > KEPT and at < number(safe) then
      if not sweep(key) then return ${CLAIM_CODE.later} end
      if call('HEXISTS', key, instant) == 0 then return ${CLAIM_CODE.superseded} end
    end
    return match(row, '^[^:]*:([^:]*)') == id and ${CLAIM_CODE.granted} or ${CLAIM_CODE.refused}
  end
  if at <= watermark then
    if at <= number(floor) then return ${CLAIM_CODE.superseded} end
    if due - left > KEPT or oldest < cutoff then
      if not sweep(key) then return ${CLAIM_CODE.later} end
      if at <= number(floor) then return ${CLAIM_CODE.superseded} end
    end
  end
  if left == 0 and not sweep(key) then return ${CLAIM_CODE.later} end
  left = left - 1
  if at > watermark then watermark, schedule = at, fingerprint end
  if now < oldest then oldest = now end
  call('HSET', key, 'head', heads(), instant, made .. id .. instance)
  return ${CLAIM_CODE.granted}
end

-- What is left after one more claim; nothing after 000, when a sweep is due.
local before = setmetatable({ ['000'] = false }, { __index = function(known, left)
  known[left] = string.format('%03d', left - 1)
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

/** KEYS: entries. Answers JSON: per entry its watermark and fingerprint, or false. */
export const LAST_FIRE_SCRIPT = script(`
local found = {}
for i = 1, #KEYS do
  local head = redis.call('HGET', KEYS[i], 'head')
  local watermark, schedule
  if head then watermark, schedule = string.match(head, '^%S+ (%S+) %S+ (.*)$') end
  found[i] = watermark and { watermark, schedule } or false
end
return answer(cjson.encode(found))`);

/** A lease is a hash: owner and expires while it is held; token, and value where one was set, for ever. */
const HOLD = `
local hold = redis.call('HMGET', KEYS[1], 'owner', 'token', 'expires')
local owned = hold[1] and tonumber(hold[3]) > now`;

/** Ends a script with 0 unless the hold is that of ARGV[2], owner, and ARGV[3], token. */
const OWN_HOLD = `${HOLD}
if not owned or hold[1] ~= ARGV[2] or hold[2] ~= ARGV[3] then return answer('0') end`;

/** ARGV: deadline, owner, ttl, and the value's JSON text where it is to be replaced. Answers the token, a space and the value's text, or nothing. */
export const ACQUIRE_SCRIPT = script(`${HOLD}
if owned and hold[1] ~= ARGV[2] then return answer('') end
local token = whole((tonumber(hold[2] or '0')) + 1)
redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'token', token, 'expires', whole(now + ARGV[3]))
if ARGV[4] then redis.call('HSET', KEYS[1], 'value', ARGV[4]) end
return answer(token .. ' ' .. (redis.call('HGET', KEYS[1], 'value') or 'null'))`);

/** ARGV: deadline, owner, token, ttl, and the value's JSON text where it is to be replaced. */
export const RENEW_SCRIPT = script(`${OWN_HOLD}
redis.call('HSET', KEYS[1], 'expires', whole(now + ARGV[4]))
if ARGV[5] then redis.call('HSET', KEYS[1], 'value', ARGV[5]) end
return answer('1')`);

/** ARGV: deadline, owner, token, and the value's JSON text where it is to be replaced. */
export const RELEASE_SCRIPT = script(`${OWN_HOLD}
redis.call('HDEL', KEYS[1], 'owner', 'expires')
if ARGV[4] then redis.call('HSET', KEYS[1], 'value', ARGV[4]) end
return answer('1')`);

/** KEYS: leases. Answers JSON: per lease false, or owner (or false), token, the value's text, milliseconds to live. */
export const READ_LEASES_SCRIPT = script(`
local found = {}
for i = 1, #KEYS do
  local lease = redis.call('HMGET', KEYS[i], 'owner', 'token', 'expires', 'value')
  local left = lease[1] and math.max(0, tonumber(lease[3]) - now) or 0
  found[i] = lease[2] and { left > 0 and lease[1], lease[2], lease[4] or 'null', whole(left) } or false
end
return answer(cjson.encode(found))`);

/** Members are a hash, instance id → \`<expires>:<member name>\`. Those that have expired are removed by whoever looks. Answers JSON, an id and a name each. */
const LIVE_MEMBERS = `
local all, live = redis.call('HGETALL', KEYS[1]), {}
for j = 1, #all, 2 do
  local expires, name = string.match(all[j + 1], '^(%d+):(.*)$')
  if tonumber(expires) > now then live[#live + 1] = { all[j], name }
  elseif ARGV[2] then redis.call('HDEL', KEYS[1], all[j]) end
end
return answer(#live == 0 and '[]' or cjson.encode(live))`;

/** ARGV: deadline, instance id, member name, expiry. */
export const HEARTBEAT_SCRIPT = script(`
redis.call('HSET', KEYS[1], ARGV[2], whole(now + ARGV[4]) .. ':' .. ARGV[3])
${LIVE_MEMBERS}`);

/** A plain read: it removes nothing. */
export const MEMBERS_SCRIPT = script(LIVE_MEMBERS);

/** ARGV: deadline, instance id. */
export const LEAVE_SCRIPT = script(`
redis.call('HDEL', KEYS[1], ARGV[2])
return answer('')`);
