import type { Clock } from '../../ambient/clock.js';
import type { HeldClaim, LapsedClaim, RecoveryStore, TakeLapsedRequest } from '../recovery-store.js';
import { type OpenSession, read, write } from './sqlite-session.js';
import type { SqliteStatements } from './sqlite-statements.js';

/** With the handle set so, numbers come as BigInts. */
interface LapsedRow {
  readonly entry_key: string;
  readonly instant_ms: number | bigint;
  readonly claim_id: string;
  readonly attempt: number | bigint;
}

/** Recovery of claims in a SQLite database. As for leases, the time is taken with the lock held. */
export class SqliteRecovery implements RecoveryStore {
  constructor(
    private readonly session: OpenSession,
    private readonly clock: Clock,
  ) {}

  async renew(claim: HeldClaim, ttlMs: number): Promise<boolean> {
    return write(this.session('renew'), 'renew', ({ holdClaim }) => {
      return holdClaim.all(this.clock.now() + ttlMs, ...identityOf(claim)).length === 1;
    });
  }

  async finish(claim: HeldClaim): Promise<boolean> {
    return write(this.session('finish'), 'finish', (statements) => {
      return finish(statements, ...identityOf(claim));
    });
  }

  async release(claim: HeldClaim): Promise<boolean> {
    return write(this.session('release'), 'release', ({ holdClaim }) => {
      return holdClaim.all(this.clock.now(), ...identityOf(claim)).length === 1;
    });
  }

  async takeLapsed(request: TakeLapsedRequest): Promise<readonly LapsedClaim[]> {
    const session = this.session('takeLapsed');
    // Nearly always nothing has lapsed: then no scan takes the lock.
    const seen = read(session, 'takeLapsed', (statements) => lapsed(statements, request, this.clock.now()));
    if (seen.length === 0) return [];
    return write(session, 'takeLapsed', (statements) => take(statements, request, this.clock.now()));
  }
}

function take(statements: SqliteStatements, request: TakeLapsedRequest, nowMs: number): LapsedClaim[] {
  const { namespace, claimId, instanceId, ttlMs } = request;
  const mostOf = new Map(request.entries.map(({ entryKey, maxAttempts }) => [entryKey, maxAttempts]));
  return lapsed(statements, request, nowMs).map((row): LapsedClaim => {
    const { entry_key: entryKey } = row;
    const [instantMs, attempt] = [Number(row.instant_ms), Number(row.attempt)];
    const abandoned = attempt >= (mostOf.get(entryKey) as number);
    if (abandoned) finish(statements, namespace, entryKey, instantMs, row.claim_id);
    else statements.takeClaim.run(claimId, instanceId, nowMs + ttlMs, namespace, entryKey, instantMs);
    return { entryKey, scheduledAt: new Date(instantMs), attempt: abandoned ? attempt : attempt + 1, abandoned };
  });
}

function lapsed(
  { lapsedClaims }: SqliteStatements,
  { namespace, entries, instanceId, limit }: TakeLapsedRequest,
  nowMs: number,
): LapsedRow[] {
  const keys = JSON.stringify(entries.map(({ entryKey }) => entryKey));
  return lapsedClaims.all(namespace, nowMs, instanceId, keys, limit) as LapsedRow[];
}

/** Done: from here on it is removed as any other, which the head must know of. */
function finish(
  { finishClaim, noteRemovable }: SqliteStatements,
  namespace: string,
  entryKey: string,
  instantMs: number,
  claimId: string,
): boolean {
  const [row] = finishClaim.all(namespace, entryKey, instantMs, claimId) as { made_ms: number | bigint }[];
  if (row === undefined) return false;
  const madeMs = Number(row.made_ms);
  noteRemovable.run(madeMs, madeMs, namespace, entryKey, madeMs);
  return true;
}

function identityOf({ namespace, entryKey, scheduledAt, claimId }: HeldClaim): [string, string, number, string] {
  return [namespace, entryKey, scheduledAt.getTime(), claimId];
}
