import type { HeldClaim, LapsedClaim, RecoveryStore, TakeLapsedRequest } from '../coordination/recovery-store.js';
import type { VirtualClock } from '../testing/virtual-clock.js';
import type { Entry, Row } from './wrong-entries.js';

/** The ways to be wrong that run a fire again which is running, or leave one that died. */
export const RECOVERY_FAULTS = [
  'never lets a claim lapse',
  'takes over what has not lapsed',
  'renews only what has not lapsed',
  'finishes only what has not lapsed',
  'renews what was never to be taken over',
  'renews for anyone',
  'finishes for anyone',
  'releases for anyone',
  'a renewal does not lengthen the hold',
  'a renewal only lengthens the hold',
  'a finished claim lapses all the same',
  'finishes twice',
  'a released claim lives on to its expiry',
  'a take keeps the claim id',
  'a take keeps the instance',
  'a take keeps the attempt',
  'what was taken never lapses again',
  'takes over what its instance made',
  'every claim can be taken over',
  'never abandons',
  'abandons one attempt too soon',
  'abandons again and again',
  'tells an attempt that was not made',
  'has one number of attempts for all entries',
  'takes what lapsed last',
  'takes in the order of instants',
  'takes more than the limit',
  'counts what it may not take',
  'takes over claims of any entry',
  'takes over claims of any namespace',
  'takes over the claims of a paused entry',
  'two scans take one claim',
  'a take raises the watermark',
  'sweeps by age what may be taken over',
  'sweeps beyond the bound what may be taken over',
  'an unfinished claim keeps the floor down',
  'never removes what was to be taken over',
  'counts retention from the end of the run',
  'grants what has lapsed to another pass',
  'starts the attempts anew where a pass asks again',
  'revives what is finished where its pass asks again',
  'what was told overlap can be taken over',
  'leaves plain what was told overlap and then got the lease',
  'makes claims that can be taken over in batches alone',
] as const;

export type RecoveryFault = (typeof RECOVERY_FAULTS)[number];

interface Found {
  readonly entry: Entry;
  readonly instantMs: number;
  readonly row: Row;
}

/** Recovery written as plainly as can be on the claims that are kept, with at most one fault built in. */
export function wrongRecovery(
  entries: () => readonly Entry[],
  clock: VirtualClock,
  fault: RecoveryFault | undefined,
): RecoveryStore {
  const is = (asked: RecoveryFault) => fault === asked;

  const rowOf = ({ namespace, entryKey, scheduledAt, claimId }: HeldClaim, anyone: boolean) => {
    const entry = entries().find((one) => one.namespace === namespace && one.entryKey === entryKey);
    const row = entry?.rows.get(scheduledAt.getTime());
    return row !== undefined && (row.claimId === claimId || anyone) ? row : undefined;
  };
  const unfinished = (held: HeldClaim, anyone: boolean) => {
    const row = rowOf(held, anyone);
    return row?.expiresMs === undefined ? undefined : (row as Row & { expiresMs: number });
  };

  const order = (a: Found, b: Found) => {
    if (is('takes in the order of instants')) return a.instantMs - b.instantMs;
    const byLapse = (a.row.expiresMs ?? 0) - (b.row.expiresMs ?? 0);
    return is('takes what lapsed last') ? -byLapse : byLapse;
  };

  const mayTake = ({ entry, row }: Found, request: TakeLapsedRequest) => {
    const asked = request.entries.some(({ entryKey }) => entryKey === entry.entryKey);
    if (!asked && !is('takes over claims of any entry')) return false;
    return row.instanceId !== request.instanceId || is('takes over what its instance made');
  };

  const lapsed = (request: TakeLapsedRequest): Found[] => {
    if (is('never lets a claim lapse')) return [];
    const nowMs = clock.now();
    const found = entries()
      .filter(({ namespace }) => namespace === request.namespace || is('takes over claims of any namespace'))
      .filter(({ pausedMs }) => pausedMs === undefined || is('takes over the claims of a paused entry'))
      .flatMap((entry) => [...entry.rows].map(([instantMs, row]): Found => ({ entry, instantMs, row })))
      .filter(({ row: { expiresMs } }) => expiresMs !== undefined)
      .filter(({ row }) => (row.expiresMs as number) <= nowMs || is('takes over what has not lapsed'))
      .sort(order);
    const limit = is('takes more than the limit') ? request.limit + 1 : request.limit;
    if (is('counts what it may not take')) return found.slice(0, limit).filter((one) => mayTake(one, request));
    return found.filter((one) => mayTake(one, request)).slice(0, limit);
  };

  const take = ({ entry, instantMs, row }: Found, request: TakeLapsedRequest): LapsedClaim => {
    const { entryKey } = entry;
    const asked = request.entries.find((one) => one.entryKey === entryKey) ?? request.entries[0];
    const ofAll = is('has one number of attempts for all entries') ? request.entries[0] : asked;
    const most = (ofAll?.maxAttempts ?? 0) - (is('abandons one attempt too soon') ? 1 : 0);
    const scheduledAt = new Date(instantMs);
    if (row.attempt >= most && !is('never abandons')) {
      if (!is('abandons again and again')) row.expiresMs = undefined;
      const attempt = is('tells an attempt that was not made') ? row.attempt + 1 : row.attempt;
      return { entryKey, scheduledAt, attempt, abandoned: true };
    }
    if (!is('a take keeps the claim id')) row.claimId = request.claimId;
    if (!is('a take keeps the instance')) row.instanceId = request.instanceId;
    if (!is('a take keeps the attempt')) row.attempt += 1;
    row.expiresMs = is('what was taken never lapses again') ? Infinity : clock.now() + request.ttlMs;
    if (is('a take raises the watermark')) entry.watermarkMs = Math.max(entry.watermarkMs, clock.now());
    return { entryKey, scheduledAt, attempt: row.attempt, abandoned: false };
  };

  return {
    async renew(held, ttlMs) {
      const anyone = is('renews for anyone');
      const row = is('renews what was never to be taken over') ? rowOf(held, anyone) : unfinished(held, anyone);
      if (row === undefined) return false;
      const { expiresMs = 0 } = row;
      if (expiresMs <= clock.now() && is('renews only what has not lapsed')) return false;
      const until = clock.now() + ttlMs;
      if (is('a renewal does not lengthen the hold')) return true;
      row.expiresMs = is('a renewal only lengthens the hold') ? Math.max(expiresMs, until) : until;
      return true;
    },
    async finish(held) {
      const row = unfinished(held, is('finishes for anyone'));
      if (row === undefined) return is('finishes twice') && rowOf(held, false)?.recoverable === true;
      if (row.expiresMs <= clock.now() && is('finishes only what has not lapsed')) return false;
      if (is('counts retention from the end of the run')) row.madeMs = clock.now();
      if (!is('a finished claim lapses all the same')) (row as Row).expiresMs = undefined;
      return true;
    },
    async release(held) {
      const row = unfinished(held, is('releases for anyone'));
      if (row === undefined) return false;
      if (!is('a released claim lives on to its expiry')) row.expiresMs = clock.now();
      return true;
    },
    async takeLapsed(request) {
      const found = lapsed(request);
      if (is('two scans take one claim')) await undefined;
      return found.map((one) => take(one, request));
    },
  };
}
