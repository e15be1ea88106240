import type { KeptEffect } from './effect.js';
import type { FromReplica } from './messages.js';
import type { TaskFleet } from './task-fleet.js';
import { HANDOVER_MS, PERIOD_MS } from './timing.js';

type Woke = Extract<FromReplica, { type: 'woke' }>;
type StandingStill = Extract<FromReplica, { type: 'standing-still' }>;

/** What became of a fleet of four that was harmed three times. */
export interface Story {
  /** When all processes first saw one another. */
  readonly agreedAtMs: number;
  readonly crash: { readonly home: string; readonly atMs: number; readonly next: KeptEffect };
  readonly stall: {
    readonly home: string;
    readonly token: number | null;
    readonly atMs: number;
    readonly next: KeptEffect;
    readonly woke: Woke;
  };
  readonly close: {
    readonly home: string;
    readonly byItself: boolean;
    readonly last: KeptEffect;
    readonly next: KeptEffect;
    /** When the process that ran next knew that it should. */
    readonly seenAtMs: number;
  };
}

const RUNS = 4;

/** Each step waits for what the processes tell, never for time. */
export async function tellStory(fleet: TaskFleet): Promise<Story> {
  await fleet.agreed();
  const agreedAtMs = Date.now();
  await fleet.runs(RUNS);
  const crash = await killHome(fleet);
  const stall = await stopHome(fleet);
  const close = await closeHome(fleet);
  await fleet.runs(RUNS);
  return { agreedAtMs, crash, stall, close };
}

async function killHome(fleet: TaskFleet): Promise<Story['crash']> {
  const home = await fleet.agreed();
  fleet.live.delete(home);
  await fleet.of(home).kill();
  const atMs = Date.now();
  const next = await fleet.nextRun(`another than ${home}, which was killed, runs`, ({ process }) => process !== home);
  await fleet.agreed();
  await fleet.runs(RUNS);
  return { home, atMs, next };
}

async function stopHome(fleet: TaskFleet): Promise<Story['stall']> {
  const home = await fleet.agreed();
  const replica = fleet.of(home);
  const standing = replica.heard((message): message is StandingStill => message.type === 'standing-still');
  replica.tell({ type: 'stand-still' });
  const { token } = await standing;
  const atMs = Date.now();
  fleet.live.delete(home);
  const next = await fleet.nextRun(`another than ${home}, which stands still, runs`, ({ process }) => process !== home);
  await fleet.runs(RUNS);
  const woke = replica.heard((message): message is Woke => message.type === 'woke');
  replica.signal('SIGCONT');
  const found = await woke;
  fleet.live.add(home);
  await fleet.agreed();
  await fleet.runs(RUNS);
  return { home, token, atMs, next, woke: found };
}

async function closeHome(fleet: TaskFleet): Promise<Story['close']> {
  const home = await fleet.agreed();
  const replica = fleet.of(home);
  const from = fleet.effects.length;
  replica.tell({ type: 'return', nextInMs: HANDOVER_MS });
  const last = await fleet.until('the home asks for a longer delay', () =>
    fleet.effects.slice(from).find(({ nextInMs }) => nextInMs !== null && nextInMs !== PERIOD_MS),
  );
  fleet.live.delete(home);
  const handedOver = fleet.nextRun('another runs than the one that closed', () => true);
  const byItself = await replica.end(20_000);
  const seenAtMs = fleet.agreed().then((seenBy) => fleet.homeSeenBy(seenBy)?.atMs as number);
  return { home, byItself, last, next: await handedOver, seenAtMs: await seenAtMs };
}
