import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConfigurationError } from '../../domain/errors.js';
import { VirtualClock } from '../../testing/virtual-clock.js';
import { DEFAULT_CLAIM_PROTOCOL } from '../claim-protocol.js';
import type { ClaimContext } from '../claimer.js';
import { SQLITE_DRIVERS, temporaryFolder } from '../fixtures/stores.js';
import { SqliteBackend, type SqliteBackendOptions } from './sqlite-backend.js';
import { readPragma, type SqliteDatabase } from './sqlite-client.js';
import { tablesFor } from './sqlite-schema.js';
import { prepareStatements } from './sqlite-statements.js';

const TABLES = ['cron_claim', 'cron_entry', 'cron_lease', 'cron_member'];

const context = (claimId: string, atMs = 0): ClaimContext => ({
  namespace: 'shop',
  entryKey: 'report',
  scheduledAt: new Date(atMs),
  claimId,
  instanceId: 'replica-1',
  schedule: 's',
  signal: new AbortController().signal,
});

/** The text of each statement, as the backend prepares it. */
function statementsSql(): Record<string, string> {
  const texts: SqliteDatabase = { exec: () => undefined, prepare: (sql) => sql as never, close: () => undefined };
  return prepareStatements(texts, tablesFor('cron_')) as never;
}

describe.each(SQLITE_DRIVERS)('SQLite through $name', ({ driver: Driver }) => {
  let folder: ReturnType<typeof temporaryFolder>;
  const closing: (() => unknown)[] = [];

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    folder.remove();
  });

  function connection(path = folder.file): SqliteDatabase {
    const database = new Driver(path, { timeout: 0 });
    closing.push(() => database.close());
    return database;
  }

  async function backend(options: Partial<SqliteBackendOptions> = {}): Promise<SqliteBackend> {
    const own = 'database' in options ? {} : { path: folder.file, driver: Driver };
    const opened = new SqliteBackend({ ...own, ...options } as SqliteBackendOptions);
    await opened.open(DEFAULT_CLAIM_PROTOCOL);
    closing.push(() => opened.close());
    return opened;
  }

  const claim = ({ claimer }: SqliteBackend, claimId: string, atMs?: number) =>
    claimer.claim('', context(claimId, atMs));

  const tables = (database: SqliteDatabase) =>
    (
      database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`).all() as { name: string }[]
    ).map(({ name }) => name);

  describe('a connection of its own', () => {
    it('is in WAL mode, with synchronous=FULL and no busy timeout', async () => {
      let opened: SqliteDatabase | undefined;
      class Watched extends Driver {
        constructor(path: string, options?: { timeout?: number }) {
          super(path, options);
          opened = this as unknown as SqliteDatabase;
        }
      }
      await backend({ driver: Watched });
      const database = opened as SqliteDatabase;
      expect(readPragma(database, 'journal_mode')).toBe('wal');
      expect(Number(readPragma(database, 'synchronous'))).toBe(2);
      expect(Number(readPragma(database, 'busy_timeout'))).toBe(0);
    });

    it('is closed with the backend, and can be opened again', async () => {
      const first = await backend();
      expect(await claim(first, 'pass-1')).toBe(true);
      await first.close();
      await expect(claim(first, 'pass-1')).rejects.toMatchObject({ code: 'COORDINATION_FAILED' });
      await first.close();
      const second = await backend();
      expect(await claim(second, 'pass-2')).toBe(false);
    });

    it('is refused where the database would not be shared', async () => {
      await expect(backend({ path: ':memory:' })).rejects.toThrow(/cannot be put into WAL mode .* MemoryBackend/);
    });

    it('rejects where the file cannot be opened, and can be tried again', async () => {
      await expect(backend({ path: `${folder.path}/none/cron.db` })).rejects.toBeDefined();
    });

    it('leaves nothing open when it fails to open, at whichever step', async () => {
      let open = 0;
      class Counted extends Driver {
        constructor(path: string, options?: { timeout?: number }) {
          super(path, options);
          open += 1;
        }
        override close() {
          open -= 1;
          return super.close();
        }
      }
      const blocker = connection();
      for (const journalMode of ['delete', 'wal']) {
        blocker.exec(`PRAGMA journal_mode = ${journalMode}`);
        blocker.exec('BEGIN IMMEDIATE');
        await expect(backend({ driver: Counted })).rejects.toMatchObject({ code: 'STORE_BUSY', operation: 'open' });
        blocker.exec('ROLLBACK');
        expect(open).toBe(0);
      }
      expect(await claim(await backend({ driver: Counted }), 'pass-1')).toBe(true);
      expect(open).toBe(1);
    });

    it('opens without the lock where the tables are there', async () => {
      await backend();
      const blocker = connection();
      blocker.exec('BEGIN IMMEDIATE');
      await expect(backend()).resolves.toBeDefined();
      blocker.exec('ROLLBACK');
    });
  });

  describe('a handle that was given', () => {
    it('keeps its pragmas and stays open', async () => {
      const database = connection();
      const pragmas = () => ['journal_mode', 'synchronous', 'busy_timeout'].map((name) => readPragma(database, name));
      database.exec('PRAGMA synchronous = NORMAL');
      const before = pragmas();
      const opened = await backend({ database });
      expect(await claim(opened, 'pass-1')).toBe(true);
      expect(pragmas()).toEqual(before);
      expect(before[0]).toBe('delete');
      await opened.close();
      expect(tables(database)).toEqual(TABLES);
    });

    it('is refused at open with a busy timeout, since it would stop the event loop', async () => {
      const database = connection();
      database.exec('PRAGMA busy_timeout = 2000');
      await expect(backend({ database })).rejects.toThrow(/busy timeout of 2000 ms.*\{ timeout: 0 \}/);
      expect(Number(readPragma(database, 'busy_timeout'))).toBe(2_000);
    });

    it("is not asked inside the application's transaction, and asked again after it", async () => {
      const database = connection();
      const opened = await backend({ database });
      database.exec('BEGIN');
      await expect(claim(opened, 'pass-1')).rejects.toMatchObject({ code: 'STORE_BUSY' });
      database.exec('ROLLBACK');
      expect(await claim(opened, 'pass-1')).toBe(true);
      // Not even for a claim that is lost and would only be read.
      database.exec('BEGIN');
      await expect(claim(opened, 'pass-2')).rejects.toMatchObject({ code: 'STORE_BUSY' });
      database.exec('ROLLBACK');
    });

    it('is not given a schema inside a transaction that may roll back', async () => {
      const database = connection();
      database.exec('BEGIN');
      await expect(backend({ database })).rejects.toMatchObject({ code: 'STORE_BUSY' });
      database.exec('ROLLBACK');
      await backend({ database });
    });

    it('that does not tell whether it is inside a transaction is protected too', async () => {
      const database = connection();
      const silent: SqliteDatabase = {
        exec: (sql) => database.exec(sql),
        prepare: (sql) => database.prepare(sql),
        close: () => database.close(),
      };
      const opened = await backend({ database: silent });
      database.exec('BEGIN');
      await expect(claim(opened, 'pass-1')).rejects.toMatchObject({ code: 'STORE_BUSY' });
      database.exec('ROLLBACK');
      expect(await claim(opened, 'pass-1')).toBe(true);
      expect(await claim(opened, 'pass-2')).toBe(false);
    });

    it('shares the tables with a connection of its own', async () => {
      const own = await backend();
      const given = await backend({ database: connection() });
      expect(await claim(own, 'pass-1')).toBe(true);
      expect(await claim(given, 'pass-2')).toBe(false);
    });
  });

  describe('while another connection holds the lock', () => {
    it('a claim that could be won is STORE_BUSY at once', async () => {
      const opened = await backend();
      const blocker = connection();
      blocker.exec('BEGIN IMMEDIATE');
      await expect(claim(opened, 'pass-1')).rejects.toMatchObject({ code: 'STORE_BUSY', store: 'sqlite' });
      blocker.exec('ROLLBACK');
      expect(await claim(opened, 'pass-1')).toBe(true);
    });

    it('a claim that is lost is refused all the same: losers take no lock and write nothing', async () => {
      const opened = await backend();
      expect(await claim(opened, 'pass-1')).toBe(true);
      const blocker = connection();
      blocker.exec('BEGIN IMMEDIATE');
      expect(await claim(opened, 'pass-2')).toBe(false);
      blocker.exec('ROLLBACK');
    });

    it('a commit that finds readers in the way is STORE_BUSY, and nothing was claimed', async () => {
      // Without WAL a commit waits for readers.
      const opened = await backend({ database: connection() });
      const reader = connection();
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM cron_claim').all();
      await expect(claim(opened, 'pass-1')).rejects.toMatchObject({ code: 'STORE_BUSY' });
      reader.exec('ROLLBACK');
      expect(await claim(opened, 'pass-2')).toBe(true);
      expect(await claim(opened, 'pass-1')).toBe(false);
    });

    it('another error is passed on as it is', async () => {
      const opened = await backend();
      connection().exec('DROP TABLE cron_claim');
      await expect(claim(opened, 'pass-1')).rejects.toThrow(/no such table/);
    });
  });

  describe('leases, membership, pauses and recovery', () => {
    const wanted = { namespace: 'shop', name: 'leader', owner: 'replica-1', ttlMs: 600_000 };
    const held = { namespace: 'shop', name: 'leader', owner: 'replica-1', token: 1 };
    const member = { instanceId: 'replica-1', memberName: 'pod-1' };
    const heldClaim = { namespace: 'shop', entryKey: 'report', scheduledAt: new Date(0), claimId: 'pass-1' };
    const scan = {
      namespace: 'shop',
      entries: [{ entryKey: 'report', maxAttempts: 3 }],
      claimId: 'scan-1',
      instanceId: 'replica-2',
      ttlMs: 600_000,
      limit: 10,
    };
    const recoverable = { ...context('pass-1'), holds: { recoveryTtlMs: 0 } };
    const calls: Record<string, (backend: SqliteBackend) => Promise<unknown>> = {
      acquire: ({ leases }) => leases.acquire(wanted),
      renew: ({ leases }) => leases.renew(held, { ttlMs: 600_000 }),
      release: ({ leases }) => leases.release(held, {}),
      read: ({ leases }) => leases.read('shop', ['leader']),
      heartbeat: ({ membership }) => membership.heartbeat('shop', member, 600_000),
      members: ({ membership }) => membership.members('shop'),
      leave: ({ membership }) => membership.leave('shop', 'replica-1'),
      pause: ({ claimer }) => claimer.pause('shop', 'other'),
      resume: ({ claimer }) => claimer.resume('shop', 'other', { keepWatermark: false }),
      forget: ({ claimer }) => claimer.forget('shop', 'other'),
      'renew of a claim': ({ recovery }) => recovery.renew(heldClaim, 600_000),
      'release of a claim': ({ recovery }) => recovery.release(heldClaim),
      finish: ({ recovery }) => recovery.finish(heldClaim),
      takeLapsed: ({ recovery }) => recovery.takeLapsed(scan),
    };
    /** What an error names. */
    const operationOf = (name: string) => name.split(' ')[0];

    it.each(Object.keys(calls))(
      "%s is not asked inside the application's transaction, and works after it",
      async (name) => {
        const database = connection();
        const opened = await backend({ database });
        database.exec('BEGIN');
        await expect(calls[name]?.(opened)).rejects.toMatchObject({ code: 'STORE_BUSY', operation: operationOf(name) });
        database.exec('ROLLBACK');
        await expect(calls[name]?.(opened)).resolves.not.toThrow();
      },
    );

    it.each(Object.keys(calls))('%s of a backend that is not open is an error that says so', async (name) => {
      const closed = new SqliteBackend({ path: folder.file, driver: Driver });
      await expect(calls[name]?.(closed)).rejects.toMatchObject({
        code: 'COORDINATION_FAILED',
        operation: operationOf(name),
      });
    });

    it('while another connection holds the lock, what writes is STORE_BUSY at once, and what reads is answered', async () => {
      const opened = await backend();
      await opened.leases.acquire(wanted);
      await opened.membership.heartbeat('shop', member, 600_000);
      await opened.claimer.claim('', recoverable);
      const blocker = connection();
      blocker.exec('BEGIN IMMEDIATE');
      for (const name of Object.keys(calls).filter((call) => call !== 'read' && call !== 'members')) {
        await expect(calls[name]?.(opened)).rejects.toMatchObject({
          code: 'STORE_BUSY',
          operation: operationOf(name),
        });
      }
      expect((await opened.leases.read('shop', ['leader'])).get('leader')).toMatchObject({
        owner: 'replica-1',
        token: 1,
      });
      expect(await opened.membership.members('shop')).toEqual([member]);
      blocker.exec('ROLLBACK');
      expect(await opened.leases.renew(held, { ttlMs: 600_000 })).toBe(true);
    });

    it('a scan that finds nothing lapsed takes no lock, nor does a claim of an entry that is paused', async () => {
      const opened = await backend();
      await opened.claimer.claim('', { ...context('pass-1'), holds: { recoveryTtlMs: 600_000 } });
      await opened.claimer.pause('shop', 'report');
      const blocker = connection();
      blocker.exec('BEGIN IMMEDIATE');
      expect(await opened.recovery.takeLapsed(scan)).toEqual([]);
      expect(await opened.claimer.claimMany([{ fireKey: '', context: context('pass-2', 1) }])).toEqual(['paused']);
      blocker.exec('ROLLBACK');
    });

    it('a scan reads the claims that can be taken over, not those that are kept', async () => {
      await backend();
      const database = connection();
      const { lapsedClaims } = statementsSql();
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${lapsedClaims}`).all('', 0, '', '[]', 1) as {
        detail: string;
      }[];
      const details = plan.map(({ detail }) => detail);
      expect(details).toContain(
        'SEARCH c USING INDEX cron_claim_unfinished (namespace=? AND expires_ms>? AND expires_ms<?)',
      );
      expect(details.filter((detail) => /SCAN c|TEMP B-TREE/.test(detail))).toEqual([]);
    });

    it('a claim that was taken over stays one row, and leaves the index when it is done', async () => {
      const clock = new VirtualClock();
      const opened = await backend({ clock });
      await opened.claimer.claim('', recoverable);
      expect(await opened.recovery.takeLapsed(scan)).toMatchObject([{ attempt: 2, abandoned: false }]);
      const rows = () =>
        connection().prepare('SELECT claim_id, instance_id, attempt, expires_ms FROM cron_claim').all();
      const row = { claim_id: 'scan-1', instance_id: 'replica-2', attempt: 2 };
      expect(rows()).toMatchObject([{ ...row, expires_ms: clock.now() + 600_000 }]);
      expect(await opened.recovery.finish({ ...heldClaim, claimId: 'scan-1' })).toBe(true);
      expect(rows()).toMatchObject([{ ...row, expires_ms: null }]);
    });

    it('outlive the process, token and value included; the dead leave no row behind', async () => {
      const clock = new VirtualClock();
      const first = await backend({ clock });
      await first.leases.acquire({ ...wanted, value: { due: 1 } });
      await first.membership.heartbeat('shop', member, 15_000);
      await first.close();
      await clock.advance(600_000);
      const second = await backend({ clock });
      expect(await second.leases.acquire({ ...wanted, owner: 'replica-2' })).toEqual({ token: 2, value: { due: 1 } });
      await second.membership.heartbeat('shop', { instanceId: 'replica-2', memberName: 'pod-1' }, 15_000);
      expect(connection().prepare('SELECT instance_id FROM cron_member').all()).toEqual([{ instance_id: 'replica-2' }]);
    });

    it('a file of a version without their tables gets them at open', async () => {
      const older = await backend();
      expect(await claim(older, 'pass-1')).toBe(true);
      await older.close();
      connection().exec('DROP TABLE cron_lease; DROP TABLE cron_member');
      const opened = await backend();
      expect(await opened.leases.acquire(wanted)).toMatchObject({ token: 1 });
      expect(await claim(opened, 'pass-2')).toBe(false);
    });

    it('a handle that answers with BigInts is read all the same', async () => {
      const database = connection();
      const bigints: SqliteDatabase = {
        exec: (sql) => database.exec(sql),
        prepare: (sql) => {
          const statement = database.prepare(sql) as ReturnType<SqliteDatabase['prepare']> & {
            safeIntegers?: (on: boolean) => unknown;
            setReadBigInts?: (on: boolean) => unknown;
          };
          statement.safeIntegers?.(true);
          statement.setReadBigInts?.(true);
          return statement;
        },
        close: () => database.close(),
        inTransaction: false,
      };
      const { leases, claimer, recovery } = await backend({ database: bigints });
      expect(await leases.acquire(wanted)).toEqual({ token: 1, value: null });
      expect((await leases.read('shop', ['leader'])).get('leader')?.expiresInMs).toBeGreaterThan(0);
      const both = { ...recoverable, holds: { overlapTtlMs: 600_000, recoveryTtlMs: 0 } };
      expect(await claimer.claimMany([{ fireKey: '', context: both }])).toEqual([{ granted: true, overlapToken: 1 }]);
      expect(await recovery.takeLapsed(scan)).toEqual([
        { entryKey: 'report', scheduledAt: new Date(0), attempt: 2, abandoned: false },
      ]);
      await claimer.pause('shop', 'report');
      expect(await claimer.resume('shop', 'report', { keepWatermark: false })).toBeInstanceOf(Date);
      expect((await claimer.lastFire('shop', ['report'])).get('report')?.scheduledAt.getTime()).toBeGreaterThan(0);
    });
  });

  it('a batch is granted whole or not at all', async () => {
    const opened = await backend();
    const refusing = connection();
    refusing.exec(`CREATE TRIGGER refuse BEFORE INSERT ON cron_claim WHEN new.instant_ms = 2
      BEGIN SELECT raise(ABORT, 'cannot store this'); END`);
    const claims = [1, 2, 3].map((atMs) => ({ fireKey: '', context: context('pass-1', atMs) }));
    await expect(opened.claimer.claimMany(claims)).rejects.toThrow('cannot store this');
    expect(refusing.prepare('SELECT * FROM cron_claim').all()).toEqual([]);
    expect(refusing.prepare('SELECT * FROM cron_entry').all()).toEqual([]);
  });

  it('an entry holds at most 256 claims and one head, the count in the head being the rows there are', async () => {
    const opened = await backend();
    for (let from = 0; from < 1_000; from += 100) {
      const claims = Array.from({ length: 100 }, (_, i) => ({ fireKey: '', context: context('pass', from + i) }));
      await opened.claimer.claimMany(claims);
    }
    const database = connection();
    expect(database.prepare('SELECT count(*) AS n, min(instant_ms) AS lowest FROM cron_claim').all()).toEqual([
      { n: 256, lowest: 744 },
    ]);
    expect(database.prepare('SELECT floor_ms, watermark_ms, claims FROM cron_entry').all()).toEqual([
      { floor_ms: 743, watermark_ms: 999, claims: 256 },
    ]);
  });

  it('rows that were removed by hand are counted anew after the retention', async () => {
    const clock = new VirtualClock();
    const opened = await backend({ clock });
    const many = Array.from({ length: 256 }, (_, i) => ({ fireKey: '', context: context('pass', i) }));
    await opened.claimer.claimMany(many);
    connection().exec('DELETE FROM cron_claim');
    await clock.advance(DEFAULT_CLAIM_PROTOCOL.retentionMs + 1);
    expect(await claim(opened, 'pass', 1_000)).toBe(true);
    expect(await claim(opened, 'pass', 1_000)).toBe(true);
    expect(connection().prepare('SELECT claims FROM cron_entry').all()).toEqual([{ claims: 1 }]);
  });

  it('table names take a prefix, which keeps two sets of tables apart', async () => {
    const plain = await backend();
    const prefixed = await backend({ tablePrefix: 'shop_cron_' });
    expect(await claim(plain, 'pass-1')).toBe(true);
    expect(await claim(prefixed, 'pass-2')).toBe(true);
    expect(tables(connection())).toEqual([...TABLES, ...TABLES.map((table) => `shop_${table}`)]);
  });

  it("the store's clock is the host's", async () => {
    const opened = await backend({ clock: { now: () => 5 } as never });
    expect(await opened.now()).toBe(5);
  });

  it.each([
    ['no path and no handle', {}, 'SqliteBackend.path'],
    ['a path without a driver', { path: 'cron.db' }, 'SqliteBackend.driver'],
    ['a handle that is none', { database: {} }, 'SqliteBackend.database'],
    ['a handle beside a path', { database: { exec() {}, prepare() {} }, path: 'cron.db' }, 'SqliteBackend.path'],
    ['an empty prefix', { path: 'a', driver: Driver, tablePrefix: '' }, 'SqliteBackend.tablePrefix'],
    [
      'a prefix that ends the statement',
      { path: 'a', driver: Driver, tablePrefix: 'a; --' },
      'SqliteBackend.tablePrefix',
    ],
    [
      'a prefix that starts with a digit',
      { path: 'a', driver: Driver, tablePrefix: '1a' },
      'SqliteBackend.tablePrefix',
    ],
    ["SQLite's own prefix", { path: 'a', driver: Driver, tablePrefix: 'SQLite_' }, 'SqliteBackend.tablePrefix'],
  ])('options are refused at once: %s', (_, options, subject) => {
    let thrown: unknown;
    try {
      new SqliteBackend(options as never);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ConfigurationError);
    expect((thrown as ConfigurationError).faults.map((fault) => fault.subject)).toContain(subject);
  });
});
