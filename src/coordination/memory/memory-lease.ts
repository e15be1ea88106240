/** A lease as the memory store keeps it. The value is kept as text, so that nobody shares an object with the store. */
export interface MemoryLease {
  owner: string | null;
  token: number;
  valueText: string;
  expiresAtMs: number;
}

/** Who asks for a lease, and until when; without a text the value stays. */
interface LeaseAsk {
  readonly name: string;
  readonly owner: string;
  readonly ttlMs: number;
  readonly valueText?: string | undefined;
}

export function isHeld(lease: MemoryLease, nowMs: number): boolean {
  return lease.owner !== null && lease.expiresAtMs > nowMs;
}

/** Grants the lease if it is unowned, expired or the owner's already, which raises its token; `undefined`: another holds it. Also the step by which a claim takes its overlap lease. */
export function takeLease(leases: Map<string, MemoryLease>, ask: LeaseAsk, nowMs: number): MemoryLease | undefined {
  const lease = leases.get(ask.name) ?? { owner: null, token: 0, valueText: 'null', expiresAtMs: 0 };
  if (isHeld(lease, nowMs) && lease.owner !== ask.owner) return undefined;
  lease.owner = ask.owner;
  lease.token += 1;
  lease.expiresAtMs = nowMs + ask.ttlMs;
  if (ask.valueText !== undefined) lease.valueText = ask.valueText;
  leases.set(ask.name, lease);
  return lease;
}
