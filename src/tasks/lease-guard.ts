import type { Clock } from '../ambient/clock.js';
import type { GuardedLeases } from '../coordination/guarded-leases.js';
import type { JsonValue, LeaseGrant } from '../coordination/lease-store.js';
import type { Alarms } from '../fire/fire-services.js';
import { LeaseHold, type LeaseLoss, type SentAt, sentNow } from '../fire/lease-hold.js';
import type { SingletonGuard, TakenTask } from './singleton-guard.js';
import type { StoreTime } from './store-time.js';
import type { TaskMemory } from './task-memory.js';
import { readRecord, recordValue, type TaskRecord } from './task-record.js';

export interface LeaseGuardParts {
  readonly leases: Pick<GuardedLeases, 'acquire' | 'renew' | 'release' | 'read'>;
  readonly time: StoreTime;
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly namespace: string;
  readonly instanceId: string;
  readonly ttlMs: number;
}

/** While another replica runs the task, it is asked this often whether it has ended: nobody tells. */
const ASK_AGAIN_MS = 1_000;

/** Guards a singleton by the lease `task:<key>`, whose value is its record. */
export class LeaseGuard implements SingletonGuard {
  readonly remembers = true;
  private readonly name: string;

  constructor(
    taskKey: string,
    private readonly parts: LeaseGuardParts,
  ) {
    this.name = `task:${taskKey}`;
  }

  async look(): Promise<number> {
    const { leases, namespace, instanceId, time } = this.parts;
    const record = (await leases.read(namespace, [this.name])).get(this.name);
    if (record === undefined) return 0;
    // A hold of our own has no run behind it any more: it was granted and its answer lost, or could not be given back. Taking it again ends it.
    if (record.owner !== null && record.owner !== instanceId) return Math.min(ASK_AGAIN_MS, record.expiresInMs);
    return untilDue(readRecord(record.value), await time.now());
  }

  async take(): Promise<TakenTask | null> {
    const { leases, namespace, instanceId: owner, ttlMs, clock, time } = this.parts;
    const nowMs = await time.now();
    const readAtMs = clock.monotonic();
    const sentAt = sentNow(clock);
    const grant = await leases.acquire({ namespace, name: this.name, owner, ttlMs });
    if (grant === null) return null;
    return new TakenLease(this.name, grant, nowMs + clock.monotonic() - readAtMs, sentAt, this.parts);
  }
}

function untilDue({ dueAtMs }: TaskRecord, nowMs: number): number {
  return dueAtMs === null ? 0 : dueAtMs - nowMs;
}

class TakenLease implements TakenTask {
  readonly fencingToken: number;
  readonly memory: TaskMemory;
  readonly dueInMs: number;
  /** Ends with the record that is kept, or with the one that is there. */
  private readonly hold: LeaseHold<JsonValue | undefined>;
  private tell: (loss: LeaseLoss) => void = () => undefined;

  constructor(
    name: string,
    grant: LeaseGrant,
    nowMs: number,
    sentAt: SentAt,
    private readonly parts: LeaseGuardParts,
  ) {
    const record = readRecord(grant.value);
    this.fencingToken = grant.token;
    this.memory = record.memory;
    this.dueInMs = untilDue(record, nowMs);
    const { namespace, instanceId: owner, leases, ttlMs } = parts;
    const lease = { namespace, name, owner, token: grant.token };
    this.hold = new LeaseHold(
      {
        renew: () => leases.renew(lease, { ttlMs }),
        giveBack: (value) => leases.release(lease, value === undefined ? {} : { value }),
      },
      sentAt,
      parts,
      (loss) => this.tell(loss),
    );
  }

  get lost(): LeaseLoss | undefined {
    return this.hold.lost;
  }

  now(): Date {
    return new Date(this.parts.time.sinceRead());
  }

  onLost(tell: (loss: LeaseLoss) => void): void {
    this.tell = tell;
  }

  check(): void {
    this.hold.check();
  }

  giveBack(after?: { readonly memory: TaskMemory; readonly nextInMs: number }): Promise<boolean> {
    if (after === undefined) return this.hold.release(undefined);
    const dueAtMs = Math.round(this.parts.time.sinceRead() + after.nextInMs);
    return this.hold.release(recordValue({ dueAtMs, memory: after.memory }));
  }

  abandon(): void {
    this.hold.abandon();
  }
}
