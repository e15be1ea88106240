import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ChildServer } from './child-server.js';
import { startOnFreePort } from './free-port.js';
import { databaseUrl, serverFolder, serverUser } from './postgres.js';

export interface PgBouncer {
  /** Connects through the pooler to the database that was behind it. */
  readonly url: string;
  /** The same, where each session of the server ran this statement first. */
  urlWith(alias: string): string;
  stop(): Promise<void>;
}

export interface PgBouncerOptions {
  /** Age in seconds at which a session of the server is replaced as soon as nobody is in a transaction on it. */
  readonly serverLifetimeSeconds: number;
  /** Sessions of the server for each database. */
  readonly poolSize: number;
  /** Further names for the database: name → statement that each new session of the server runs first. */
  readonly aliases?: Readonly<Record<string, string>>;
}

/** `undefined` where it is not installed. */
export function findPgBouncer(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin'];
  return folders.map((folder) => join(folder, 'pgbouncer')).find((file) => existsSync(file));
}

/** A pooler in transaction mode in front of the database that `url` names: each transaction gets some session, and nothing of it stays for the next. */
export async function startPgBouncer(url: string, options: PgBouncerOptions): Promise<PgBouncer> {
  const command = findPgBouncer();
  if (command === undefined) {
    throw new Error('These tests need PgBouncer (Debian: apt-get install pgbouncer).');
  }
  const behind = new URL(url);
  const database = behind.pathname.slice(1);
  const user = serverUser();
  const folder = serverFolder(user);
  const file = join(folder, 'pgbouncer.ini');
  const target = [
    `host=${behind.hostname} port=${behind.port || 5432} dbname=${database} user=${decodeURIComponent(behind.username)}`,
    ...(behind.password === '' ? [] : [`password=${decodeURIComponent(behind.password)}`]),
  ].join(' ');
  const aliases = Object.entries(options.aliases ?? {}).map(
    ([alias, statement]) => `${alias} = ${target} connect_query='${statement.replaceAll("'", "''")}'`,
  );
  const { port, server } = await startOnFreePort(async (port) => {
    writeFileSync(
      file,
      [
        '[databases]',
        `${database} = ${target}`,
        ...aliases,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = any',
        'pool_mode = transaction',
        'max_client_conn = 500',
        `default_pool_size = ${options.poolSize}`,
        `server_lifetime = ${options.serverLifetimeSeconds}`,
        '',
      ].join('\n'),
    );
    const server = await ChildServer.start({
      command,
      args: [file],
      ready: /process up/,
      ...(user === undefined ? {} : { user }),
    });
    return { port, server };
  });
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  through.password = '';
  return {
    url: through.href,
    urlWith: (alias) => databaseUrl(through.href, alias),
    stop: async () => {
      // SIGINT waits for transactions, SIGTERM does not.
      await server.stop('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
