import type { Act } from './messages.js';
import type { RecoveryFleet } from './recovery-fleet.js';
import { GUARDED_MS, LONG_LEASE_TTL_MS, SLOW_MS } from './timing.js';

/** They live from the beginning to the end; a third one comes later. */
const HEIRS = ['a', 'b'] as const;
const LATECOMER = 'c';
const RERUN = { recovery: 'rerun' } as const;
/** All that are told of an instant have it armed by then. */
const AHEAD_MS = 1_500;

export interface Takeover {
  readonly first: Act;
  /** When the winner was killed, stopped, or had ended its method. */
  readonly goneAtMs: number;
  readonly second: Act;
}

/** Instants after `fromMs` and not after `untilMs`, which every replica rejected, of an entry that was paused. */
export interface Pause {
  readonly fromMs: number;
  readonly untilMs: number;
  /** When the resume was carried out. */
  readonly resumedAtMs: number;
}

/** What became of a fleet that was harmed in many ways at a time. */
export interface Story {
  readonly killed: Takeover;
  readonly stalled: Takeover & { readonly woke: Act };
  readonly drained: Takeover & { readonly byItself: boolean };
  readonly slow: { readonly began: Act; readonly ended: Act };
  readonly doomed: { readonly instantMs: number; readonly abandonedAtMs: number };
  readonly plainPause: Pause;
  readonly caughtUpPause: Pause;
  readonly guard: { readonly holder: Act; readonly killedAtMs: number; readonly next: Act };
  /** Of those that were told to end at the end. */
  readonly endedAs: readonly string[];
}

/** Each step waits for what the processes tell, never for time. What harms one process leaves the others alone, so all but the last goes on together. */
export async function tellStory(fleet: RecoveryFleet): Promise<Story> {
  await Promise.all([
    ...HEIRS.map((name) => fleet.start(name)),
    ...['killed', 'stalled', 'doomed-1', 'doomed-2'].map((name) => fleet.start(name)),
    fleet.start('drained', LONG_LEASE_TTL_MS),
  ]);
  const [killed, stalled, drained, slow, doomed, pauses] = await Promise.all([
    kill(fleet),
    stall(fleet),
    drain(fleet),
    outlast(fleet),
    doom(fleet),
    pause(fleet),
  ]);
  const guard = await guardOverFleet(fleet);
  const left = [...fleet.live];
  fleet.live.clear();
  await Promise.all(left.map((name) => fleet.of(name).end(20_000)));
  const endedAs = await Promise.all(left.map((name) => fleet.of(name).ended));
  return { killed, stalled, drained, slow, doomed, ...pauses, guard, endedAs };
}

/** A fire that one replica wins, for it alone has the entry yet; the others get it when its method runs. */
async function win(
  fleet: RecoveryFleet,
  key: string,
  winner: string,
  entry: Pick<Parameters<RecoveryFleet['arm']>[1], 'behaviour' | 'options'>,
) {
  const at = Date.now() + AHEAD_MS;
  await fleet.arm([winner], { key, at, ...entry });
  const first = await fleet.act(key, 'began');
  await fleet.arm(
    HEIRS.filter((name) => name !== winner),
    { key, at, ...entry },
  );
  return first;
}

const secondAttempt = (fleet: RecoveryFleet, key: string) => fleet.act(key, 'began', ({ attempt }) => attempt === 2);

async function kill(fleet: RecoveryFleet): Promise<Takeover> {
  const first = await win(fleet, 'killed', 'killed', { behaviour: { kind: 'hangs' }, options: RERUN });
  const goneAtMs = await fleet.kill('killed');
  return { first, goneAtMs, second: await secondAttempt(fleet, 'killed') };
}

async function stall(fleet: RecoveryFleet): Promise<Story['stalled']> {
  const first = await win(fleet, 'stalled', 'stalled', { behaviour: { kind: 'stands-still' }, options: RERUN });
  const second = await secondAttempt(fleet, 'stalled');
  fleet.of('stalled').signal('SIGCONT');
  const woke = await fleet.act('stalled', 'aborted');
  return { first, goneAtMs: first.atMs, second, woke };
}

/** Its lease is long: nobody could take the fire before it is given back. */
async function drain(fleet: RecoveryFleet): Promise<Story['drained']> {
  const first = await win(fleet, 'drained', 'drained', { behaviour: { kind: 'ends-on-signal' }, options: RERUN });
  fleet.live.delete('drained');
  const ended = fleet.of('drained').end(20_000);
  const { atMs: goneAtMs } = await fleet.act('drained', 'aborted');
  const second = await secondAttempt(fleet, 'drained');
  return { first, goneAtMs, second, byItself: (await ended) && (await fleet.of('drained').ended) === 'exit 0' };
}

async function outlast(fleet: RecoveryFleet): Promise<Story['slow']> {
  const behaviour = { kind: 'takes', ms: SLOW_MS } as const;
  const began = await win(fleet, 'slow', HEIRS[0], { behaviour, options: RERUN });
  return { began, ended: await fleet.act('slow', 'ended') };
}

/** Two replicas race for it; each attempt kills its replica. Those that live get it after the last one that may be made. */
async function doom(fleet: RecoveryFleet): Promise<Story['doomed']> {
  const doomed = ['doomed-1', 'doomed-2'];
  const at = Date.now() + AHEAD_MS;
  const options = { ...RERUN, recoveryAttempts: doomed.length };
  const entry = { key: 'doomed', at, behaviour: { kind: 'kills' }, options } as const;
  await fleet.arm(doomed, entry);
  for (const name of doomed) fleet.live.delete(name);
  await Promise.all(doomed.map((name) => fleet.of(name).ended));
  await fleet.arm(HEIRS, entry);
  await fleet.until('the fire is abandoned', () => fleet.wordsOf('doomed', 'abandoned')[0]);
  return { instantMs: at, abandonedAtMs: Date.now() };
}

async function pause(fleet: RecoveryFleet): Promise<Pick<Story, 'plainPause' | 'caughtUpPause'>> {
  const key = 'paced';
  const entry = { key, at: 'every second', behaviour: { kind: 'takes', ms: 0 }, options: {} } as const;
  const [one, other] = HEIRS;
  const all = [...HEIRS, LATECOMER];
  const runAfter = (afterMs: number) => fleet.act(key, 'began', ({ instantMs }) => instantMs > afterMs);
  /** So many instants were rejected by every replica; answers the latest. What one of them has not answered yet may be claimed when the pause is over. */
  const rejected = (count: number, afterMs: number) =>
    fleet.until('all replicas reject', () => {
      const words = fleet.wordsOf(key, 'rejected').filter(({ instantMs }) => instantMs > afterMs);
      const instants = [...new Set(words.map(({ instantMs }) => instantMs))].sort((a, b) => a - b);
      const byAll = instants.filter((instant) =>
        all.every((name) => words.some(({ replica, instantMs }) => replica === name && instantMs === instant)),
      );
      return byAll.length >= count ? byAll.at(-1) : undefined;
    });

  await fleet.arm(HEIRS, entry);
  await runAfter(0);
  const plain = await fleet.order(one, { type: 'pause', key });
  await fleet.start(LATECOMER);
  await fleet.arm([LATECOMER], entry);
  const plainUntilMs = await rejected(2, plain);
  const resumedAtMs = await fleet.order(other, { type: 'resume', key, catchUp: false });
  await runAfter(resumedAtMs);

  const second = await fleet.order(LATECOMER, { type: 'pause', key });
  const untilMs = await rejected(3, second);
  const caughtUpAtMs = await fleet.order(one, { type: 'resume', key, catchUp: true });
  await runAfter(caughtUpAtMs);
  return {
    plainPause: { fromMs: plain, untilMs: plainUntilMs, resumedAtMs },
    caughtUpPause: { fromMs: second, untilMs, resumedAtMs: caughtUpAtMs },
  };
}

/** Three replicas share an entry whose method is longer than its interval; then the one that runs it is killed. */
async function guardOverFleet(fleet: RecoveryFleet): Promise<Story['guard']> {
  const key = 'guarded';
  const options = { overlap: 'skip', overlapScope: 'fleet' } as const;
  const behaviour = { kind: 'takes', ms: GUARDED_MS } as const;
  await fleet.arm([...HEIRS, LATECOMER], { key, at: 'every second', behaviour, options });
  await fleet.until('it has run twice', () => (fleet.actsOf(key, 'ended').length >= 2 ? true : undefined));
  const runs = fleet.actsOf(key, 'began').length;
  const holder = await fleet.until('it runs again', () => fleet.actsOf(key, 'began')[runs]);
  const killedAtMs = await fleet.kill(holder.replica);
  const next = await fleet.act(key, 'began', ({ atMs }) => atMs > killedAtMs);
  return { holder, killedAtMs, next };
}
