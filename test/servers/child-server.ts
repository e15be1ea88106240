import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** What the server prints, on either stream, once it takes connections. */
  readonly ready: RegExp;
  /** Runs it as this user, where the tests run as root. Needs `setpriv`. */
  readonly user?: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Default 20 s. */
  readonly startLimitMs?: number;
}

const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
const START_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 5_000;

/** A real server as a child process. It ends with the tests, however those end. */
export class ChildServer {
  /** The last of what it printed, for whoever wonders why it failed. */
  output = '';
  private readonly ended: Promise<void>;

  private constructor(private readonly child: ChildProcess) {
    const keep = (chunk: Buffer) => {
      this.output = (this.output + chunk.toString()).slice(-4_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    this.ended = new Promise((resolve) => child.once('close', () => resolve()));
  }

  /** Resolves when the server said that it is ready; rejects with what it printed if it ends or stays silent. */
  static async start(server: ServerCommand): Promise<ChildServer> {
    const [command, args] = dyingWithItsParent(server);
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(server.cwd === undefined ? {} : { cwd: server.cwd }),
      env: { ...process.env, ...server.env },
    });
    const started = new ChildServer(child);
    const limitMs = server.startLimitMs ?? START_LIMIT_MS;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const fail = (what: string) => reject(new Error(`${server.command} ${what}. It printed:\n${started.output}`));
        const look = () => server.ready.test(started.output) && resolve();
        child.stdout?.on('data', look);
        child.stderr?.on('data', look);
        child.once('error', (cause) => fail(`did not start: ${cause.message}`));
        child.once('close', (code, signal) => fail(`ended with ${code ?? signal} before it was ready`));
        timer = setTimeout(() => fail(`was not ready within ${limitMs} ms`), limitMs);
      });
    } catch (cause) {
      child.kill('SIGKILL');
      throw cause;
    } finally {
      clearTimeout(timer);
    }
    return started;
  }

  /** The server's own process, not that of a wrapper. */
  get pid(): number {
    return this.child.pid as number;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** SIGSTOP, SIGCONT, SIGKILL and the like. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Asks it to stop, and ends it where it does not within 5 s. `signal` is the polite one of this server; default SIGTERM. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.running) {
      // A server that a test had paused would not hear.
      this.child.kill('SIGCONT');
      this.child.kill(signal);
    }
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_LIMIT_MS);
    await this.ended;
    clearTimeout(timer);
  }

  /** As by a power cut. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

/** `setpriv` becomes the server, so the pid is the server's. Where it is absent a test run that is killed leaves its servers behind. */
function dyingWithItsParent({ command, args, user }: ServerCommand): [string, string[]] {
  if (SETPRIV === undefined) {
    if (user !== undefined)
      throw new Error(`${command} must run as ${user}, for which setpriv (util-linux) is needed.`);
    return [command, [...args]];
  }
  const asUser = user === undefined ? [] : ['--reuid', user, '--regid', user, '--init-groups'];
  return [SETPRIV, [...asUser, '--pdeathsig', 'KILL', '--', command, ...args]];
}
