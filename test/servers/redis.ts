import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ChildServer } from './child-server.js';
import { startOnFreePort } from './free-port.js';

const READY = /Ready to accept connections/;

/** A Redis of the tests' own: memory only unless told otherwise, on a free loopback port. */
export class RedisServer {
  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly args: readonly string[],
    private child: ChildServer,
  ) {}

  /** `args` are options of redis-server, e.g. `--appendonly yes`. */
  static async start(...args: readonly string[]): Promise<RedisServer> {
    const folder = mkdtempSync(join(tmpdir(), 'distributed-cron-redis-'));
    try {
      return await startOnFreePort(async (port) => {
        return new RedisServer(port, folder, args, await launch(port, folder, args));
      });
    } catch (cause) {
      rmSync(folder, { recursive: true, force: true });
      throw cause;
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** For SIGSTOP and SIGCONT. */
  signal(signal: NodeJS.Signals): void {
    this.child.signal(signal);
  }

  async kill(): Promise<void> {
    await this.child.kill();
  }

  /** On the same port and folder, after `kill` or while it runs. Without persistence it remembers nothing. */
  async restart(): Promise<void> {
    await this.child.stop();
    this.child = await launch(this.port, this.folder, this.args);
  }

  async stop(): Promise<void> {
    await this.child.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The server that `REDIS_URL` names, which is neither emptied nor stopped, or one of the tests' own. */
export async function anyRedis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const url = process.env.REDIS_URL;
  return url === undefined || url === '' ? RedisServer.start() : { url, stop: async () => undefined };
}

/** Three primaries without replicas. */
export class RedisCluster {
  private constructor(readonly nodes: readonly RedisServer[]) {}

  static async start(): Promise<RedisCluster> {
    const nodes: RedisServer[] = [];
    try {
      for (let i = 0; i < 3; i += 1) nodes.push(await startNode());
      const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
      await redisCli('--cluster', 'create', ...addresses, '--cluster-yes');
      for (const { port } of nodes) await becomesOk(port);
      return new RedisCluster(nodes);
    } catch (cause) {
      await Promise.all(nodes.map((node) => node.stop()));
      throw cause;
    }
  }

  get addresses(): { readonly host: string; readonly port: number }[] {
    return this.nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}

/** The bus gets a free port too: by itself it is 10,000 above the node's, where there may be none. */
const startNode = () =>
  startOnFreePort((busPort) =>
    RedisServer.start('--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '5000'),
  );

/** What `redis-cli` prints. */
export async function redisCli(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('redis-cli', [...args], { timeout: 30_000 });
  return stdout;
}

/** The node was told by `redis-cli`, but hears of the others' slots by gossip, of which there is no event. */
async function becomesOk(port: number): Promise<void> {
  const endsAtMs = Date.now() + 20_000;
  while (!(await redisCli('-p', String(port), 'cluster', 'info')).includes('cluster_state:ok')) {
    if (Date.now() > endsAtMs) throw new Error(`The Redis node on port ${port} did not join the Cluster in 20 s.`);
  }
}

async function launch(port: number, folder: string, args: readonly string[]): Promise<ChildServer> {
  if (!(process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, 'redis-server')))) {
    throw new Error(
      'redis-server is not on the PATH. `npm test` and `npm run demo` install it as root on Debian; else install it (apt-get install redis-server, brew install redis), or set REDIS_URL to a server, which is enough for the demo and for the specs that need no more than one.',
    );
  }
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--daemonize', 'no'];
  return ChildServer.start({ command: 'redis-server', args: [...own, ...args], ready: READY });
}
