import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
const LINES_KEPT = 40;

export interface ApplicationProcessSettings {
  /** What it is called in reports. */
  readonly name: string;
  readonly script: string;
  /** Its one argument, as JSON. */
  readonly settings: unknown;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * An application in a process of its own, with a channel for messages. It ends with its parent: by the channel's end, and where `setpriv` is there also when it
 * is stopped and hears of nothing.
 */
export class ApplicationProcess<ToIt, FromIt> {
  readonly name: string;
  /** The last lines it wrote. */
  readonly lines: string[] = [];
  /** Resolves when it has ended, with how. */
  readonly ended: Promise<string>;
  private readonly child: ChildProcess;

  constructor({ name, script, settings, env = process.env }: ApplicationProcessSettings) {
    this.name = name;
    const node = [process.execPath, script, JSON.stringify(settings)];
    const [command, ...args] = SETPRIV === undefined ? node : [SETPRIV, '--pdeathsig', 'KILL', '--', ...node];
    this.child = spawn(command as string, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.keep(text));
    }
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => resolve(error.message));
      this.child.once('exit', (code, signal) => resolve(`exit ${code ?? signal}`));
    });
  }

  get running(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  onMessage(listener: (message: FromIt) => void): void {
    this.child.on('message', (message) => listener(message as FromIt));
  }

  /** Resolves with the first message that passes; rejects with what it printed if it ends before. */
  heard<T extends FromIt>(wanted: (message: FromIt) => message is T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.onMessage((message) => wanted(message) && resolve(message));
      void this.ended.then((how) => reject(new Error(`${this.name}: ${how}. It printed:\n${this.lines.join('\n')}`)));
    });
  }

  tell(message: ToIt): void {
    if (this.child.connected) this.child.send(message as never, () => {});
  }

  /** SIGSTOP, SIGCONT and the like. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** As a crash: no chance to do anything. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Asks it to drain, and ends it where it does not in time. Answers whether it ended by itself. */
  async end(limitMs: number): Promise<boolean> {
    if (!this.running) return true;
    this.child.kill('SIGTERM');
    const tooLong = setTimeout(() => this.child.kill('SIGKILL'), limitMs);
    await this.ended;
    clearTimeout(tooLong);
    return this.child.signalCode !== 'SIGKILL';
  }

  private keep(text: string): void {
    this.lines.push(...text.split('\n').filter((line) => line !== ''));
    this.lines.splice(0, this.lines.length - LINES_KEPT);
  }
}

/** For the process itself: it ends with its parent. */
export function endWithParent(): void {
  process.on('disconnect', () => process.exit());
  // The terminal sends Ctrl-C to the whole group; the launcher decides how its processes end.
  process.on('SIGINT', () => {});
}

/** For the process itself: tells its parent. */
export function tellParent(message: unknown): void {
  // Without a parent there is nobody to tell; the disconnect ends this process.
  if (process.connected) process.send?.(message, () => {});
}
