import { ROWS } from './redis-claim-scripts.js';
import { script } from './redis-scripts.js';

/**
 * The index of recovery is a sorted set per bucket and namespace: a member `<instant>:<entry key>` for each claim that can be taken over, by its expiry. Claim and index change in one step; where an
 * eviction parts them, the claim decides.
 */

/** Ends a script with 0 unless the claim of KEYS[1], entry, at ARGV[2], instant, is that of ARGV[3], claim id, and unfinished. */
const OWN_CLAIM = `${ROWS}
local row = redis.call('HGET', KEYS[1], ARGV[2])
if not unfinished(row) or string.match(row, '^[^:]*:([^:]*)') ~= ARGV[3] then return answer('0') end`;

/** KEYS: entry, index. ARGV: deadline, instant, claim id, member, ttl: nothing of it, and the claim lapses at once. */
export const EXTEND_CLAIM_SCRIPT = script(`${OWN_CLAIM}
local expires = whole(now + ARGV[5])
redis.call('ZADD', KEYS[2], expires, ARGV[4])
redis.call('HSET', KEYS[1], ARGV[2], plain(row) .. string.match(row, ';%d+;') .. expires)
return answer('1')`);

/** KEYS: entry, index. ARGV: deadline, instant, claim id, member. */
export const FINISH_CLAIM_SCRIPT = script(`${OWN_CLAIM}
done(KEYS[1], KEYS[2], ARGV[2], ARGV[4], row)
return answer('1')`);

/** KEYS: indexes. ARGV: deadline, members of each, then for each how many to pass over. Answers JSON: per index its members that have lapsed, each followed by its expiry, or false. */
export const LAPSED_SCRIPT = script(`
local found = {}
for i = 1, #KEYS do
  local lapsed = redis.call('ZRANGEBYSCORE', KEYS[i], '-inf', whole(now), 'WITHSCORES', 'LIMIT', ARGV[2 + i], ARGV[2])
  found[i] = #lapsed > 0 and lapsed
end
return answer(cjson.encode(found))`);

/** What the script that takes answers for a claim, where it is no attempt. */
export const TAKE_CODE = { stays: 's', gone: 'g', abandoned: 'a' } as const;

/**
 * KEYS: entry and index for each claim. ARGV: deadline, claim id, instance id, ttl; then for each claim: instant, member, most attempts. Answers a word per claim, separated by commas: the new attempt,
 * or `a` and the last attempt for one that is abandoned, or that the claim stays, or that it is no longer to be taken over.
 */
export const TAKE_LAPSED_SCRIPT = script(`${ROWS}
local id, instance, expires = ARGV[2], ARGV[3], whole(now + ARGV[4])
local function taken(entry, index, instant, member, most)
  local found = redis.pcall('HMGET', entry, instant, 'head')
  -- No hash: another's key, which must keep nobody from the claims of other entries.
  if found.err then return '${TAKE_CODE.stays}' end
  local row, head = found[1], found[2]
  if not unfinished(row) then
    redis.call('ZREM', index, member)
    return '${TAKE_CODE.gone}'
  end
  local made, owner, attempt, lapses = string.match(row, '^(%d+:)[^:]*:([^;]*);(%d+);(%d+)$')
  if tonumber(lapses) > now or owner == instance or parts(head) ~= '' then return '${TAKE_CODE.stays}' end
  if tonumber(attempt) >= tonumber(most) then
    done(entry, index, instant, member, row)
    return '${TAKE_CODE.abandoned}' .. attempt
  end
  attempt = whole(attempt + 1)
  redis.call('ZADD', index, expires, member)
  redis.call('HSET', entry, instant, made .. id .. ':' .. instance .. ';' .. attempt .. ';' .. expires)
  return attempt
end

local words = {}
for i = 1, #KEYS / 2 do
  words[i] = taken(KEYS[2 * i - 1], KEYS[2 * i], unpack(ARGV, 3 * i + 2, 3 * i + 4))
end
return answer(table.concat(words, ','))`);
