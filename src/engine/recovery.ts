import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { LapsedClaim } from '../coordination/recovery-store.js';
import type { Fire } from '../domain/fire.js';
import { fireKey } from '../domain/fire-key.js';
import { holdsOfPass } from '../fire/fire-holds.js';
import type { FireServices } from '../fire/fire-services.js';
import { type SentAt, sentNow } from '../fire/lease-hold.js';
import { Pass } from '../fire/pass.js';
import { askElector } from '../fire/stages/ask-elector.js';
import type { Entry } from './entry.js';

/** Fires that one look takes at most: the rest is for the other replicas, or for the next look. */
const TAKEN_AT_A_TIME = 16;
/** Entries named in one request. */
const ENTRIES_PER_REQUEST = 1_000;
/** The longest time between two looks. */
const MAX_LOOK_EVERY_MS = 5_000;

/**
 * Looks for fires whose replica died while it ran them, and runs them again: within one lease and one look of the last renewal. It looks only while there are entries with `recovery: 'rerun'`, and
 * only for those that may run here.
 */
export class Recovery {
  private readonly watched = new Map<Entry, GuardedBackend>();
  private alarm: object | undefined;
  private state: 'idle' | 'started' | 'stopped' = 'idle';
  private looking: Promise<void> | undefined;
  /** The store did not answer the last look: told once. */
  private unreachable = false;

  constructor(
    private readonly services: FireServices,
    private readonly send: (pass: Pass) => void,
  ) {}

  /** To be told of each entry that is added or changed. */
  watch(entry: Entry): void {
    const { claims } = entry;
    if (entry.policies.recovery !== 'rerun' || claims?.recovery === undefined) {
      this.watched.delete(entry);
      return;
    }
    this.watched.set(entry, claims);
    this.arm(this.services.random.fraction());
  }

  unwatch(entry: Entry): void {
    this.watched.delete(entry);
  }

  start(): void {
    if (this.state !== 'idle') return;
    this.state = 'started';
    this.arm(this.services.random.fraction());
  }

  /** Resolves when no look is under way; what it still brings is given up at once. */
  async stop(): Promise<void> {
    this.state = 'stopped';
    if (this.alarm !== undefined) this.services.alarms.cancel(this.alarm);
    this.alarm = undefined;
    await this.looking;
  }

  /** Replicas that started together do not look together. */
  private arm(part = 0.8 + 0.2 * this.services.random.fraction()): void {
    if (this.state !== 'started' || this.alarm !== undefined || this.looking !== undefined) return;
    if (this.watched.size === 0) return;
    const everyMs = Math.min(MAX_LOOK_EVERY_MS, this.services.leaseTtlMs / 3);
    this.alarm = this.services.alarms.set(Math.ceil(everyMs * part), () => {
      this.alarm = undefined;
      this.looking = this.look().finally(() => {
        this.looking = undefined;
        this.arm();
      });
    });
  }

  private async look(): Promise<void> {
    const byStore = new Map<GuardedBackend, Entry[]>();
    for (const [entry, claims] of await this.thatMayRun()) {
      const entries = byStore.get(claims);
      if (entries === undefined) byStore.set(claims, [entry]);
      else entries.push(entry);
    }
    try {
      for (const [claims, entries] of byStore) {
        for (let from = 0; from < entries.length && this.state === 'started'; from += ENTRIES_PER_REQUEST)
          await this.take(claims, entries.slice(from, from + ENTRIES_PER_REQUEST));
      }
      this.unreachable = false;
    } catch (error) {
      if (!this.unreachable && this.state === 'started') {
        const { clock, instanceId } = this.services;
        this.services.emit({ type: 'recovery.unreachable', atMs: clock.now(), instanceId, error });
      }
      this.unreachable = true;
    }
  }

  /** Asked side by side: a drain waits for no more than one answer of a slow elector. */
  private async thatMayRun(): Promise<readonly (readonly [Entry, GuardedBackend])[]> {
    const watched = [...this.watched].filter(([entry]) => !entry.paused);
    if (this.services.elector === undefined) return watched;
    const may = await Promise.all(watched.map(([entry]) => this.mayRun(entry)));
    return watched.filter((_, index) => may[index]);
  }

  /** Where an elector is set, only a replica that leads takes fires over. */
  private async mayRun(entry: Entry): Promise<boolean> {
    const pass = this.passOf(entry, new Date(this.services.clock.now()));
    return (await askElector(pass, this.services)) === undefined;
  }

  private async take(claims: GuardedBackend, entries: readonly Entry[]): Promise<void> {
    const { namespace, instanceId, leaseTtlMs: ttlMs, random, clock } = this.services;
    const claimId = random.uuid();
    const sentAt = sentNow(clock);
    const asked = entries.map(({ key, policies }) => ({ entryKey: key, maxAttempts: policies.recoveryAttempts }));
    const request = { namespace, entries: asked, claimId, instanceId, ttlMs, limit: TAKEN_AT_A_TIME };
    const byKey = new Map(entries.map((entry) => [entry.key, entry]));
    for (const lapsed of (await claims.recovery?.takeLapsed(request)) ?? []) {
      const entry = byKey.get(lapsed.entryKey);
      if (entry !== undefined) this.found(entry, claims, lapsed, { claimId, sentAt });
    }
  }

  private found(
    entry: Entry,
    claims: GuardedBackend,
    { scheduledAt, attempt, abandoned }: LapsedClaim,
    { claimId, sentAt }: { readonly claimId: string; readonly sentAt: SentAt },
  ): void {
    const pass = this.passOf(entry, scheduledAt);
    if (abandoned) {
      const { clock, instanceId } = this.services;
      const told = { atMs: clock.now(), instanceId, fire: pass.fire };
      this.services.emit({ type: 'fire.abandoned', ...told, attempts: attempt });
      return;
    }
    pass.attempt = attempt;
    pass.claimId = claimId;
    pass.asked = claims;
    holdsOfPass(pass, this.services).keepRecovery(sentAt);
    this.send(pass);
  }

  private passOf(entry: Entry, scheduledAt: Date): Pass {
    const fire: Fire = {
      entryKey: entry.key,
      fireKey: fireKey(entry.key, scheduledAt.getTime()),
      scheduledAt,
      origin: 'recovery',
    };
    return new Pass(fire, entry, entry.generation);
  }
}
