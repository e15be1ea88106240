import { join } from 'node:path';
import { ApplicationProcess } from './application-process.js';
import { Life } from './life.js';
import { LineReader } from './line-file.js';
import type { ReplicaRecord, RunRecord } from './records.js';

/** What every replica's process is started with, beside what its test wants. */
export interface ReplicaFiles {
  /** What it is called in its ledger. */
  readonly replica: string;
  /** Runs, as lines. */
  readonly ledger: string;
  /** Fires that it did not run, as lines. */
  readonly log: string;
}

interface LivingReplica<ToIt, FromIt> {
  readonly process: ApplicationProcess<ToIt, FromIt>;
  readonly life: Life;
}

interface Readers<Run> {
  readonly life: Life;
  readonly ledger: LineReader<Run>;
  readonly log: LineReader<ReplicaRecord>;
}

/** How a replica's process ended when it was told to drain. */
export interface DrainedReplica {
  /** `exit 0`, or the signal that ended it. */
  readonly how: string;
  readonly tookMs: number;
}

/** The replicas' processes, and all that they have left. Each start of a replica is a life with files of its own. A replica tells `started` when it takes part. */
export class Fleet<Settings, ToIt, FromIt extends { readonly type: string }, Run extends RunRecord = RunRecord> {
  readonly lives: Life[] = [];
  readonly runs: Run[] = [];
  /** Processes that ended although nobody told them to. */
  readonly deaths: string[] = [];
  private readonly living = new Map<number, LivingReplica<ToIt, FromIt>>();
  private readonly readers: Readers<Run>[] = [];

  constructor(
    private readonly folder: string,
    private readonly script: string,
    private readonly settingsOf: (replica: number) => Settings,
  ) {}

  /** Resolves when it takes part. */
  async start(replica: number): Promise<void> {
    const name = `replica ${replica}, life ${this.lives.filter((life) => life.name.startsWith(`replica ${replica},`)).length + 1}`;
    const file = (kind: string) => join(this.folder, `${name.replace(/\W+/g, '-')}.${kind}`);
    const files: ReplicaFiles = { replica: name, ledger: file('ledger'), log: file('log') };
    const life = new Life(name);
    this.lives.push(life);
    this.readers.push({ life, ledger: new LineReader(files.ledger), log: new LineReader(files.log) });
    const process = new ApplicationProcess<ToIt, FromIt>({
      name,
      script: this.script,
      settings: { ...files, ...this.settingsOf(replica) },
    });
    const started = process.heard((message): message is FromIt => message.type === 'started');
    void process.ended.then((how) => {
      if (life.end === undefined) this.deaths.push(`${name}: ${how}\n${process.lines.join('\n')}`);
    });
    this.living.set(replica, { process, life });
    this.onStart(process, life);
    await started;
  }

  async kill(replica: number): Promise<void> {
    const { process, life } = this.get(replica);
    life.end = { atMs: Date.now(), how: 'killed' };
    await process.kill();
  }

  stop(replica: number): void {
    const { process, life } = this.get(replica);
    life.stopped(Date.now());
    process.signal('SIGSTOP');
  }

  continue(replica: number): void {
    const { process, life } = this.get(replica);
    process.signal('SIGCONT');
    life.continued(Date.now());
  }

  /** SIGTERM, and SIGKILL where it has not ended by itself in time. */
  async drainOne(replica: number, limitMs: number): Promise<DrainedReplica> {
    const { process, life } = this.get(replica);
    const atMs = Date.now();
    life.end ??= { atMs, how: 'drained' };
    if (!(await process.end(limitMs)))
      this.deaths.push(`${process.name}: did not drain in ${limitMs} ms\n${process.lines.join('\n')}`);
    return { how: await process.ended, tookMs: Date.now() - atMs };
  }

  /** Drains them all. */
  async drain(limitMs: number): Promise<void> {
    await Promise.all([...this.living.keys()].map((replica) => this.drainOne(replica, limitMs)));
  }

  /** However a run ended, nothing is left of it. */
  async killAll(): Promise<void> {
    for (const { life } of this.living.values()) life.end ??= { atMs: Date.now(), how: 'killed' };
    await Promise.all([...this.living.values()].map(({ process }) => process.kill()));
    for (const { ledger, log } of this.readers) {
      ledger.close();
      log.close();
    }
  }

  /** Takes in what was written since the last look. */
  read(): void {
    for (const { life, ledger, log } of this.readers) {
      for (const record of log.readNew()) life.hear(record);
      this.runs.push(...ledger.readNew());
    }
  }

  /** What single replicas did not run, by reason. */
  skips(): Map<string, number> {
    const sums = new Map<string, number>();
    for (const { skips } of this.lives) for (const [what, n] of skips) sums.set(what, (sums.get(what) ?? 0) + n);
    return sums;
  }

  /** For a fleet that listens to more. */
  protected onStart(_process: ApplicationProcess<ToIt, FromIt>, _life: Life): void {}

  protected get(replica: number): LivingReplica<ToIt, FromIt> {
    const found = this.living.get(replica);
    if (found === undefined) throw new Error(`Replica ${replica} was never started.`);
    return found;
  }
}
