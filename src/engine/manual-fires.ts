import { FireRejectedError } from '../domain/errors.js';
import type { Fire } from '../domain/fire.js';
import { manualFireKey } from '../domain/fire-key.js';
import { type Outcome, Pass } from '../fire/pass.js';
import type { Entry } from './entry.js';
import type { SchedulerParts } from './scheduler-parts.js';

/** Fires that somebody asks for: here and now, under a key that no other fire has. */
export class ManualFires {
  constructor(
    private readonly parts: Pick<SchedulerParts, 'clock' | 'random'>,
    private readonly send: (pass: Pass) => void,
  ) {}

  trigger(entry: Entry): Fire {
    return this.fire(entry, undefined);
  }

  /** Resolves with what the method returned, rejects with what it threw, or with FireRejectedError. */
  triggerAndWait(entry: Entry): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.fire(entry, (outcome, { fireKey }) => {
        if (outcome.kind === 'completed') resolve(outcome.value);
        else if (outcome.kind === 'failed') reject(outcome.error);
        else reject(new FireRejectedError(entry.key, fireKey, outcome.reason));
      });
    });
  }

  private fire(entry: Entry, onEnd: ((outcome: Outcome, fire: Fire) => void) | undefined): Fire {
    const nowMs = this.parts.clock.now();
    const fire: Fire = {
      entryKey: entry.key,
      fireKey: manualFireKey(entry.key, nowMs, this.parts.random.uuid()),
      scheduledAt: new Date(nowMs),
      origin: 'manual',
    };
    this.send(new Pass(fire, entry, entry.generation, onEnd && ((outcome) => onEnd(outcome, fire))));
    return fire;
  }
}
