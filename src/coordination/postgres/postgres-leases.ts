import { CoordinationError } from '../coordination-error.js';
import {
  type HeldLease,
  type JsonValue,
  type LeaseGrant,
  type LeaseRecord,
  type LeaseRequest,
  type LeaseStore,
  MAX_LEASE_VALUE_BYTES,
} from '../lease-store.js';
import { POSTGRES_STORE, requireText, textArray, textFault, wholeMs } from './postgres-client.js';
import { ask, type OpenSession } from './postgres-session.js';

type Integer = number | string | bigint;

/** Leases in PostgreSQL, a row each and a statement a step. Tokens are exact up to 2^53. */
export class PostgresLeases implements LeaseStore {
  /** `session` throws while the backend is not open. */
  constructor(private readonly session: OpenSession) {}

  async acquire({ namespace, name, owner, ttlMs, value }: LeaseRequest): Promise<LeaseGrant | null> {
    requireTexts({ namespace, name, owner }, 'acquire');
    const values = [namespace, name, owner, wholeMs(ttlMs, 'ttlMs', 'acquire'), valueText(value, 'acquire')];
    const rows = await ask<{ token: Integer; value: string }>(this.session('acquire'), 'acquire', values, 'acquire');
    const [granted] = rows;
    return granted === undefined ? null : { token: Number(granted.token), value: JSON.parse(granted.value) };
  }

  async renew(
    { namespace, name, owner, token }: HeldLease,
    change: { readonly ttlMs: number; readonly value?: JsonValue },
  ): Promise<boolean> {
    requireTexts({ namespace, name, owner }, 'renew');
    const values = [
      namespace,
      name,
      owner,
      String(token),
      wholeMs(change.ttlMs, 'ttlMs', 'renew'),
      valueText(change.value, 'renew'),
    ];
    return (await ask(this.session('renew'), 'renew', values, 'renew')).length > 0;
  }

  async release(
    { namespace, name, owner, token }: HeldLease,
    change: { readonly value?: JsonValue },
  ): Promise<boolean> {
    requireTexts({ namespace, name, owner }, 'release');
    const values = [namespace, name, owner, String(token), valueText(change.value, 'release')];
    return (await ask(this.session('release'), 'release', values, 'release')).length > 0;
  }

  async read(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, LeaseRecord>> {
    const kept = names.filter((name) => textFault(name) === undefined);
    const rows = await ask<{
      name: string;
      owner: string | null;
      token: Integer;
      value: string;
      expires_in_ms: Integer;
    }>(this.session('read'), 'readLeases', [namespace, textArray(kept)], 'read');
    return new Map(
      rows.map(({ name, owner, token, value, expires_in_ms }) => [
        name,
        { owner, token: Number(token), value: JSON.parse(value), expiresInMs: Number(expires_in_ms) },
      ]),
    );
  }
}

function requireTexts(texts: Readonly<Record<string, string>>, operation: string): void {
  for (const [what, text] of Object.entries(texts)) requireText(text, what, operation);
}

/** The empty text, which no JSON is, stands for a value that stays. */
function valueText(value: JsonValue | undefined, operation: string): string {
  if (value === undefined) return '';
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_LEASE_VALUE_BYTES) return text;
  throw refusal(operation, `the value has ${bytes} bytes of JSON, expected at most ${MAX_LEASE_VALUE_BYTES}.`);
}

function refusal(operation: string, message: string): CoordinationError {
  return new CoordinationError('COORDINATION_FAILED', { store: POSTGRES_STORE, operation }, message);
}
