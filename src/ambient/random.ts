import { randomUUID } from 'node:crypto';

/** Chance as the library sees it: jitter, retry waits and identities. A test passes a seeded one. */
export interface Random {
  /** Uniform in [0, 1). */
  fraction(): number;
  /** A version 4 UUID. */
  uuid(): string;
}

export const systemRandom: Random = {
  fraction: () => Math.random(),
  uuid: () => randomUUID(),
};
