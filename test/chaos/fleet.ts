import { join } from 'node:path';
import { ApplicationProcess } from '../processes/application-process.js';
import { Life } from '../processes/life.js';
import { LineReader } from '../processes/line-file.js';
import type { ReplicaRecord, RunRecord } from '../processes/records.js';
import type { FromReplica, ReplicaSettings, SetClock } from './settings.js';

type ReplicaProcess = ApplicationProcess<SetClock, FromReplica>;

interface LivingReplica {
  readonly process: ReplicaProcess;
  readonly life: Life;
}

interface Readers {
  readonly life: Life;
  readonly ledger: LineReader<RunRecord>;
  readonly log: LineReader<ReplicaRecord>;
}

/** The replicas' processes, and all that they have left. Each start of a replica is a life with files of its own. */
export class Fleet {
  readonly lives: Life[] = [];
  readonly runs: RunRecord[] = [];
  /** Processes that ended although nobody told them to. */
  readonly deaths: string[] = [];
  private readonly living = new Map<number, LivingReplica>();
  private readonly readers: Readers[] = [];

  constructor(
    private readonly folder: string,
    private readonly settingsOf: (replica: number) => Omit<ReplicaSettings, 'replica' | 'ledger' | 'log'>,
  ) {}

  /** Resolves when it takes part. */
  async start(replica: number): Promise<void> {
    const name = `replica ${replica}, life ${this.lives.filter((life) => life.name.startsWith(`replica ${replica},`)).length + 1}`;
    const file = (kind: string) => join(this.folder, `${name.replace(/\W+/g, '-')}.${kind}`);
    const settings: ReplicaSettings = {
      replica: name,
      ledger: file('ledger'),
      log: file('log'),
      ...this.settingsOf(replica),
    };
    const life = new Life(name);
    this.lives.push(life);
    this.readers.push({ life, ledger: new LineReader(settings.ledger), log: new LineReader(settings.log) });
    const process: ReplicaProcess = new ApplicationProcess({
      name,
      script: join(__dirname, 'replica.js'),
      settings,
    });
    const started = process.heard((message): message is FromReplica => message.type === 'started');
    void process.ended.then((how) => {
      if (life.end === undefined) this.deaths.push(`${name}: ${how}\n${process.lines.join('\n')}`);
    });
    process.onMessage((message) => {
      if (message.type === 'clock-set') life.clockSet(message.atMs, message.offsetMs);
    });
    this.living.set(replica, { process, life });
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

  /** Resolves when its clock is set. */
  async setClock(replica: number, offsetMs: number): Promise<void> {
    const { process } = this.get(replica);
    const set = process.heard(
      (message): message is FromReplica => message.type === 'clock-set' && message.offsetMs === offsetMs,
    );
    process.tell({ type: 'set-clock', offsetMs });
    await set;
  }

  /** Drains them all. */
  async drain(limitMs: number): Promise<void> {
    await Promise.all(
      [...this.living.values()].map(async ({ process, life }) => {
        life.end ??= { atMs: Date.now(), how: 'drained' };
        if (!(await process.end(limitMs))) this.deaths.push(`${process.name}: did not drain in ${limitMs} ms`);
      }),
    );
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

  private get(replica: number): LivingReplica {
    const found = this.living.get(replica);
    if (found === undefined) throw new Error(`Replica ${replica} was never started.`);
    return found;
  }
}
