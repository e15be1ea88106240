import { CoordinationError } from './coordination-error.js';
import { type JsonValue, MAX_LEASE_VALUE_BYTES } from './lease-store.js';

/**
 * The JSON text of a lease's value, the form every store keeps it in.
 * @throws CoordinationError if it is larger than `MAX_LEASE_VALUE_BYTES`, or has no JSON text
 */
export function leaseValueText(value: JsonValue, store: string): string {
  const text: string | undefined = JSON.stringify(value);
  const bytes = text === undefined ? Number.NaN : Buffer.byteLength(text);
  if (bytes <= MAX_LEASE_VALUE_BYTES) return text as string;
  const got = Number.isNaN(bytes) ? 'something that JSON cannot hold' : `${bytes} bytes`;
  throw new CoordinationError(
    'COORDINATION_FAILED',
    { store, operation: 'lease' },
    `a lease's value is JSON of at most ${MAX_LEASE_VALUE_BYTES} bytes, got ${got}. Keep what is larger in a table of your own.`,
  );
}
