import type { Clock } from '../../ambient/clock.js';
import { isGranted } from '../claim-answer.js';
import type { Claim, ClaimAnswer, ClaimContext, Claimer, LastFire } from '../claimer.js';
import { type Ask, byEntryThenInstant, decide, lookForLosses } from './sqlite-claim-step.js';
import { asStoreBusy, immediately, insideApplicationsTransaction, insideTransaction } from './sqlite-client.js';
import { type OpenSession, write } from './sqlite-session.js';

/** No watermark is lower: the first instant a date can hold. */
const LOWEST_MS = -8_640_000_000_000_000;

/** Claims in a SQLite database: what can be won is decided in one immediate transaction, a batch included. */
export class SqliteClaimer implements Claimer {
  readonly repeatable = true;
  readonly holding = true;

  constructor(
    private readonly session: OpenSession,
    private readonly clock: Clock,
  ) {}

  async claim(fireKey: string, context: ClaimContext): Promise<boolean> {
    const [answer] = await this.claimMany([{ fireKey, context }]);
    if (answer instanceof Error) throw answer;
    // `claim` has no word for superseded, paused and overlap: this pass may not run, and that is what false says.
    return isGranted(answer);
  }

  async claimMany(claims: readonly Claim[]): Promise<readonly ClaimAnswer[]> {
    const session = this.session('claim');
    // An application's transaction may roll back, and our claims with it.
    if (insideTransaction(session.database) === true) throw insideApplicationsTransaction('claim');
    const asks = claims
      .map(({ context }, place): Ask => ({ place, context, instantMs: context.scheduledAt.getTime() }))
      .sort(byEntryThenInstant);
    const answers: ClaimAnswer[] = new Array(claims.length);
    try {
      const open = lookForLosses(session, asks, this.clock, answers);
      if (open.length > 0) immediately(session.database, () => decide(session, open, this.clock, answers));
      return answers;
    } catch (cause) {
      throw asStoreBusy(cause, 'claim');
    }
  }

  async lastFire(namespace: string, entryKeys: readonly string[]): Promise<ReadonlyMap<string, LastFire>> {
    const { statements } = this.session('lastFire');
    try {
      const rows = statements.lastFires.all(JSON.stringify(entryKeys), namespace) as {
        entry_key: string;
        watermark_ms: number | bigint;
        schedule: string;
      }[];
      return new Map(
        rows.map((row) => [row.entry_key, { scheduledAt: new Date(Number(row.watermark_ms)), schedule: row.schedule }]),
      );
    } catch (cause) {
      throw asStoreBusy(cause, 'lastFire');
    }
  }

  async pause(namespace: string, entryKey: string): Promise<void> {
    write(this.session('pause'), 'pause', ({ pauseEntry }) => pauseEntry.run(namespace, entryKey, this.clock.now()));
  }

  async resume(
    namespace: string,
    entryKey: string,
    { keepWatermark }: { readonly keepWatermark: boolean },
  ): Promise<Date | null> {
    return write(this.session('resume'), 'resume', ({ pausedSince, resumeEntry }) => {
      const [row] = pausedSince.all(namespace, entryKey) as { paused_ms: number | bigint }[];
      if (row === undefined) return null;
      resumeEntry.run(keepWatermark ? LOWEST_MS : this.clock.now(), namespace, entryKey);
      return new Date(Number(row.paused_ms));
    });
  }

  async forget(namespace: string, entryKey: string): Promise<void> {
    write(this.session('forget'), 'forget', ({ forgetClaims, forgetHead }) => {
      forgetClaims.run(namespace, entryKey);
      forgetHead.run(namespace, entryKey);
    });
  }
}
