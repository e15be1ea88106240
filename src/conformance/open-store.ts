import { setTimeout as wait } from 'node:timers/promises';
import { DEFAULT_CLAIM_PROTOCOL } from '../coordination/claim-protocol.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import type { ConformanceStore } from './conformance-store.js';
import type { MovableClock } from './movable-clock.js';

/** The default of `forRoot`. */
const COORDINATION_TIMEOUT_MS = 5_000;

/** A life of a hold or a member that a real clock outlasts quickly, yet longer than a slow store takes for two calls. */
const SHORT_WAITED_MS = 500;
/** The same where waiting costs nothing. */
const SHORT_MOVED_MS = 30_000;
/** What a real clock is given beyond its time: timers come early, and clocks are read at different moments. */
const SPARE_MS = 50;

/** Opens backends as the rules ask for them, and closes them all. `part` says what of a backend its rules are about. */
export function openStore(store: ConformanceStore) {
  const opened: CoordinationBackend[] = [];
  const { signal } = new AbortController();

  const replica = async (): Promise<CoordinationBackend> => {
    const backend = await store.replica();
    await backend.open?.({ ...DEFAULT_CLAIM_PROTOCOL, coordinationTimeoutMs: COORDINATION_TIMEOUT_MS }, signal);
    opened.push(backend);
    return backend;
  };
  const part =
    <T>(of: (backend: CoordinationBackend) => T) =>
    async () =>
      of(await replica());
  const close = async () => {
    try {
      for (const backend of opened) await backend.close?.();
    } finally {
      await store.close?.();
    }
  };

  const clock = store.clock ?? standingClock();
  const shortMs = store.clock === undefined ? SHORT_WAITED_MS : SHORT_MOVED_MS;
  const pass = async (ms: number) => {
    if (store.clock === undefined) await wait(ms + SPARE_MS);
    else await store.clock.advance(ms);
  };
  return { clock, replica, part, close, pass, shortMs, step: store.clock && ((ms: number) => store.clock?.step(ms)) };
}

export type OpenedStore = ReturnType<typeof openStore>;

/** The host's clock, for rules that only read it. A store whose clock is minutes off the host's would refuse what is due now. */
function standingClock(): MovableClock {
  const cannot = () => {
    throw new Error('This harness moves no clock; the rule needs one that is moved.');
  };
  return { now: () => Date.now(), advance: async () => cannot(), step: cannot };
}
