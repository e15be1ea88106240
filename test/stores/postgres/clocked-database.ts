import { Pool } from 'pg';
import type { PostgresPool } from '../../../src/coordination/postgres/postgres-client.js';
import { createSchema } from '../../../src/coordination/postgres/postgres-schema.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { databaseUrl } from '../../servers/postgres.js';

/**
 * A database whose clock a test moves. Its sessions find a `statement_timestamp()` that reads a table before they find PostgreSQL's own, by the database's
 * `search_path`: the statements under test are those that run in production, to the letter.
 */
export class ClockedDatabase {
  private written = Number.NaN;
  /** Sessions that no replica uses now: to connect costs more than most tests do. */
  private readonly idle = new Map<string, Pool[]>();
  clock = new VirtualClock();

  private constructor(
    readonly name: string,
    private readonly url: string,
    private readonly admin: Pool,
  ) {}

  static async create(serverUrl: string, name: string): Promise<ClockedDatabase> {
    const server = new Pool({ connectionString: serverUrl, max: 1 });
    await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await server.query(`CREATE DATABASE ${name}`);
    await server.query(`ALTER DATABASE ${name} SET search_path = clock, pg_catalog`);
    await server.end();
    const url = databaseUrl(serverUrl, name);
    const admin = new Pool({ connectionString: url, max: 1 });
    await admin.query('CREATE SCHEMA clock');
    await admin.query('CREATE TABLE clock.hand (ms bigint NOT NULL)');
    await admin.query('INSERT INTO clock.hand VALUES (0)');
    await admin.query(
      `CREATE FUNCTION clock.statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
       AS 'SELECT to_timestamp(ms / 1000.0) FROM clock.hand'`,
    );
    await createSchema({ query: (text) => admin.query(text) });
    return new ClockedDatabase(name, url, admin);
  }

  /** Empties the tables of the backend, and sets the clock to its start. */
  async empty(): Promise<void> {
    this.clock = new VirtualClock();
    for (const table of ['entry', 'claim', 'lease', 'member'])
      await this.admin.query(`DELETE FROM public.cron_${table}`);
  }

  /** One session, so that statements run in the order in which they were sent: a sweep comes before the claim that is asked after it. */
  pool(url = this.url): { readonly pool: PostgresPool; release(): void } {
    const idle = this.idle.get(url) ?? [];
    this.idle.set(url, idle);
    const session = idle.pop() ?? new Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0 });
    return {
      pool: {
        query: async (text, values) => {
          const ms = this.clock.now();
          if (ms !== this.written) {
            this.written = ms;
            await this.admin.query('UPDATE clock.hand SET ms = $1', [ms]);
          }
          return session.query(text, values);
        },
      },
      release: () => void idle.push(session),
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.idle.values()].flat().map((session) => session.end()));
    await this.admin.end();
  }
}
