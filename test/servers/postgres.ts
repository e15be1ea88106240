import { execFile, execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ChildServer } from './child-server.js';
import { startOnFreePort } from './free-port.js';
import { findPostgresBinaries, POSTGRES_MISSING } from './postgres-binaries.js';

export interface PostgresServer {
  /** Connects as a superuser to the database `postgres`, or to whatever `POSTGRES_URL` names. */
  readonly url: string;
  /** `undefined` for a server that was given: it is not ours to stop, kill or pause. */
  readonly control?: PostgresControl;
  stop(): Promise<void>;
}

export interface PostgresControl {
  readonly port: number;
  readonly pid: number;
  /** As by a power cut; all that was committed is there after `start`. */
  kill(): Promise<void>;
  /** On the same port, with the same data. */
  start(): Promise<void>;
  /** Stops or continues every process of the server, the sessions included. */
  pause(): void;
  resume(): void;
}

const run = promisify(execFile);
const INITDB_LIMIT_MS = 120_000;

/**
 * A PostgreSQL server for one test file: `POSTGRES_URL` if it is set, else one of its own on a free loopback port, with its data in a folder that is gone
 * afterwards. It ends with the process that started it.
 */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const given = process.env.POSTGRES_URL;
  if (given !== undefined && given !== '') return { url: given, stop: async () => undefined };

  const binaries = findPostgresBinaries();
  if (binaries === undefined) throw new Error(POSTGRES_MISSING);
  const user = serverUser();
  const folder = serverFolder(user);
  const data = join(folder, 'data');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await initialize(binaries, data, user);
    const started = await startOnFreePort(async (port) => ({
      port,
      server: await start(binaries, data, port, user, settings),
    }));
    let { server } = started;
    const { port } = started;
    const signalAll = (signal: NodeJS.Signals) => {
      // Sessions first when it pauses, the server first when it goes on: no session finds the others gone meanwhile.
      const pids = [...sessionsOf(server.pid), server.pid];
      for (const pid of signal === 'SIGSTOP' ? pids : pids.reverse()) process.kill(pid, signal);
    };
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      control: {
        port,
        get pid() {
          return server.pid;
        },
        kill: () => server.kill(),
        start: async () => {
          server = await start(binaries, data, port, user, settings);
        },
        pause: () => signalAll('SIGSTOP'),
        resume: () => signalAll('SIGCONT'),
      },
      stop: async () => {
        // SIGINT ends the sessions; SIGTERM would wait for each of them.
        await server.stop('SIGINT');
        remove();
      },
    };
  } catch (cause) {
    remove();
    throw cause;
  }
}

/** A database of its own on the server, for a test that sets something on it. */
export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** The user that servers which refuse to run as root run as, where the tests do; `undefined` where they do not. */
export function serverUser(): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const user = 'postgres';
  try {
    execFileSync('id', ['-u', user], { stdio: 'pipe' });
  } catch {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', user], { stdio: 'pipe' });
  }
  return user;
}

/** A folder of the server's own, which its user may write. */
export function serverFolder(user: string | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), 'distributed-cron-server-'));
  if (user !== undefined) {
    const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
    chownSync(folder, id('-u'), id('-g'));
  }
  return folder;
}

async function initialize(binaries: string, data: string, user: string | undefined): Promise<void> {
  const initdb = [
    join(binaries, 'initdb'),
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ];
  const command =
    user === undefined ? initdb : ['setpriv', '--reuid', user, '--regid', user, '--init-groups', '--', ...initdb];
  await run(command[0] as string, command.slice(1), { timeout: INITDB_LIMIT_MS, env: { ...process.env, LC_ALL: 'C' } });
}

function start(
  binaries: string,
  data: string,
  port: number,
  user: string | undefined,
  settings: Readonly<Record<string, string>>,
): Promise<ChildServer> {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '32MB',
    // The machine does not lose its power during a test.
    fsync: 'off',
    ...settings,
  };
  return ChildServer.start({
    command: join(binaries, 'postgres'),
    args: [
      '-D',
      data,
      '-p',
      String(port),
      ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    ready: /ready to accept connections/,
    env: { LC_ALL: 'C' },
    cwd: data,
    ...(user === undefined ? {} : { user }),
  });
}

function sessionsOf(pid: number): number[] {
  const listed = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return listed
    .split('\n')
    .map(Number)
    .filter((found) => found > 0);
}
