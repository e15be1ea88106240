import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { StoreName } from '../shop-config';
import type { FromReplica, StopInside } from './messages';

const LINES_KEPT = 40;

/** A drain may take the scheduler's deadline of ten seconds. */
const LONGEST_END_MS = 15_000;

export interface ReplicaSettings {
  readonly name: string;
  readonly databasePath: string;
  readonly store: StoreName;
  readonly namespace: string;
}

/** One process of the fleet. */
export class ReplicaProcess {
  readonly name: string;
  /** Where it takes orders; `undefined` until it has started, and from its end on. */
  url: string | undefined;
  /** The last lines it wrote. */
  readonly lines: string[] = [];
  killedMs: number | undefined;
  private ending = false;
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;

  constructor({ name, databasePath, store, namespace }: ReplicaSettings) {
    this.name = name;
    this.child = fork(join(__dirname, 'replica.js'), {
      env: {
        ...process.env,
        SHOP_DATABASE: databasePath,
        SHOP_REPLICA: name,
        SHOP_STORE: store,
        SHOP_NAMESPACE: namespace,
        NO_COLOR: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.exited = once(this.child, 'exit');
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.keep(text));
    }
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get killed(): boolean {
    return this.killedMs !== undefined;
  }

  get isUp(): boolean {
    return this.url !== undefined;
  }

  onMessage(listener: (message: FromReplica) => void): void {
    this.child.on('message', (message: FromReplica) => {
      if (message.type === 'started') this.url = message.url;
      listener(message);
    });
  }

  /** Called if it ends although nobody told it to. */
  onDeath(listener: (how: string) => void): void {
    this.child.on('error', (error) => listener(error.message));
    this.child.on('exit', (code, signal) => {
      this.url = undefined;
      if (!this.ending) listener(`exit ${code ?? signal}`);
    });
  }

  tell(message: StopInside): void {
    if (this.child.connected) this.child.send(message, () => {});
  }

  /** As a crash, or the kernel when memory is short: no chance to do anything. */
  kill(): void {
    this.killedMs = Date.now();
    this.ending = true;
    this.url = undefined;
    this.child.kill('SIGKILL');
  }

  /** Asks it to drain. Answers whether it ended by itself. */
  async end(): Promise<boolean> {
    this.ending = true;
    this.url = undefined;
    if (this.hasExited) return true;
    this.child.kill('SIGTERM');
    const tooLong = setTimeout(() => this.child.kill('SIGKILL'), LONGEST_END_MS);
    await this.exited;
    clearTimeout(tooLong);
    return this.killed || this.child.signalCode !== 'SIGKILL';
  }

  private get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null || this.child.pid === undefined;
  }

  private keep(text: string): void {
    this.lines.push(...text.split('\n').filter((line) => line !== ''));
    this.lines.splice(0, this.lines.length - LINES_KEPT);
  }
}
