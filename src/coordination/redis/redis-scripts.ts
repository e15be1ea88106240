import { createHash } from 'node:crypto';

/** A Lua script and the name by which a server that has seen it knows it. */
export interface RedisScript {
  readonly source: string;
  readonly sha: string;
}

/**
 * How every script begins and answers. ARGV[1] is the store's time after which nobody waits for the answer: a command that lay in a client's queue longer
 * must do nothing. The answer is the store's time in milliseconds, then a space and what the script has to say; without the space it came too late.
 */
export function script(body: string): RedisScript {
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

/** A lease is a hash: owner and expires while it is held; token, and value where one was set, for ever. */
const HOLD = `
local hold = redis.call('HMGET', KEYS[1], 'owner', 'token', 'expires')
local owned = hold[1] and tonumber(hold[3]) > now`;

/** Ends a script with 0 unless the hold is that of ARGV[2], owner, and ARGV[3], token. */
const OWN_HOLD = `${HOLD}
if not owned or hold[1] ~= ARGV[2] or hold[2] ~= ARGV[3] then return answer('0') end`;

/** For scripts that take a lease, from what HMGET says of its owner, token and expires. */
export const TAKE_LEASE = `
local function freeFor(hold, owner) return not hold[1] or tonumber(hold[3]) <= now or hold[1] == owner end
local function take(lease, hold, owner, ttl)
  local token = whole(tonumber(hold[2] or '0') + 1)
  redis.call('HSET', lease, 'owner', owner, 'token', token, 'expires', whole(now + ttl))
  return token
end`;

/** ARGV: deadline, owner, ttl, and the value's JSON text where it is to be replaced. Answers the token, a space and the value's text, or nothing. */
export const ACQUIRE_SCRIPT = script(`${TAKE_LEASE}
local hold = redis.call('HMGET', KEYS[1], 'owner', 'token', 'expires')
if not freeFor(hold, ARGV[2]) then return answer('') end
local token = take(KEYS[1], hold, ARGV[2], ARGV[3])
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
