import type { Clock } from '../../ambient/clock.js';
import type { HeldLease, JsonValue, LeaseGrant, LeaseRecord, LeaseRequest, LeaseStore } from '../lease-store.js';
import { leaseValueText } from '../lease-value.js';
import { SQLITE_STORE } from './sqlite-client.js';
import { type OpenSession, read, write } from './sqlite-session.js';

/** With the handle set so, numbers come as BigInts. */
interface GrantRow {
  readonly token: number | bigint;
  readonly value: string;
}

interface LeaseRow extends GrantRow {
  readonly name: string;
  readonly owner: string | null;
  readonly expires_ms: number | bigint;
}

/** Leases in a SQLite database. The time is taken with the lock held, so no two steps on one lease see the times the other way round. */
export class SqliteLeases implements LeaseStore {
  constructor(
    private readonly session: OpenSession,
    private readonly clock: Clock,
  ) {}

  async acquire({ namespace, name, owner, ttlMs, value }: LeaseRequest): Promise<LeaseGrant | null> {
    const text = textOf(value);
    const [row] = write(this.session('acquire'), 'acquire', ({ acquireLease }) => {
      const nowMs = this.clock.now();
      return acquireLease.all(namespace, name, owner, text, nowMs + ttlMs, text, nowMs) as GrantRow[];
    });
    return row === undefined ? null : grantOf(row);
  }

  async renew(
    { namespace, name, owner, token }: HeldLease,
    { ttlMs, value }: { readonly ttlMs: number; readonly value?: JsonValue },
  ): Promise<boolean> {
    const text = textOf(value);
    const rows = write(this.session('renew'), 'renew', ({ renewLease }) => {
      const nowMs = this.clock.now();
      return renewLease.all(nowMs + ttlMs, text, namespace, name, owner, token, nowMs);
    });
    return rows.length === 1;
  }

  async release(
    { namespace, name, owner, token }: HeldLease,
    { value }: { readonly value?: JsonValue },
  ): Promise<boolean> {
    const text = textOf(value);
    const rows = write(this.session('release'), 'release', ({ releaseLease }) =>
      releaseLease.all(text, namespace, name, owner, token, this.clock.now()),
    );
    return rows.length === 1;
  }

  async read(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, LeaseRecord>> {
    const rows = read(
      this.session('read'),
      'read',
      ({ readLeases }) => readLeases.all(JSON.stringify(names), namespace) as LeaseRow[],
    );
    const nowMs = this.clock.now();
    return new Map(rows.map((row) => [row.name, recordOf(row, nowMs)]));
  }
}

/** `null` leaves the value as it is. */
function textOf(value: JsonValue | undefined): string | null {
  return value === undefined ? null : leaseValueText(value, SQLITE_STORE);
}

function grantOf({ token, value }: GrantRow): LeaseGrant {
  return { token: Number(token), value: JSON.parse(value) as JsonValue };
}

function recordOf(row: LeaseRow, nowMs: number): LeaseRecord {
  const expiresInMs = Number(row.expires_ms) - nowMs;
  const held = row.owner !== null && expiresInMs > 0;
  return { ...grantOf(row), owner: held ? row.owner : null, expiresInMs: held ? expiresInMs : 0 };
}
