import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ShopDatabase } from '../database/shop-database';
import { shopConfig } from '../shop-config';
import type { DemoArguments } from './arguments';
import { type Audit, audit } from './audit';
import { coordinator } from './coordinator';
import { Customers } from './customers';
import type { Display } from './display';
import { FireBoard } from './fire-board';
import { fireLine } from './fire-line';
import { Fleet } from './fleet';
import { type ExpectedFire, expectedFires, nextInvoiceRun } from './jobs';
import { awaitStandstill, type Standstill } from './kill';
import type { FromReplica } from './messages';
import type { ReplicaProcess } from './replica-process';
import { ShopBooks } from './shop-books';
import { TaskBoard, type TaskMove } from './task-board';
import { moveNote, taskLines, taskSummary } from './task-line';

/** Beyond the time it was asked to run. */
const LONGEST_REST_MS = 60_000;
/** The last orders are placed this long before the end, so that an invoice run after them lies within. */
const CLOSING_MS = 2_500;

/** A day at the shop: replicas start, customers order, one replica dies, the books are checked. */
export class Demo {
  private readonly folder = mkdtempSync(join(tmpdir(), 'distributed-cron-demo-'));
  private readonly databasePath = join(this.folder, 'shop.sqlite');
  private readonly database = new ShopDatabase(this.databasePath);
  private readonly books = new ShopBooks(this.database);
  private readonly fleet = new Fleet();
  private readonly board = new FireBoard(() => this.fleet.live().map(({ name }) => name));
  private readonly tasks = new TaskBoard();
  private readonly customers: Customers;
  private readonly over: AbortSignal;
  private readonly failure = new AbortController();
  private standstill: Standstill | undefined;
  private allStartedMs: number | undefined;
  private quietMs = Number.POSITIVE_INFINITY;
  private closed = false;

  /** `interrupted` ends it early. */
  constructor(
    private readonly wanted: DemoArguments,
    private readonly display: Display,
    interrupted: AbortSignal,
  ) {
    const longestMs = wanted.seconds * 1_000 + LONGEST_REST_MS;
    const tooLong = () => this.failure.abort(new Error(`not all orders were invoiced within ${longestMs / 1_000} s`));
    setTimeout(tooLong, longestMs).unref();
    this.over = AbortSignal.any([interrupted, this.failure.signal]);
    this.customers = new Customers(() => this.fleet.urls(), this.over);
  }

  /** @throws what ended it early */
  async run(): Promise<Audit> {
    const aborted = new Promise<never>((_, reject) => {
      this.over.addEventListener('abort', () => reject(this.over.reason), { once: true });
    });
    // Without a listener an abort after the end would be an unhandled rejection.
    aborted.catch(() => {});
    return await Promise.race([this.day(), aborted]);
  }

  /** Leaves nothing behind. Answers the replicas that did not end by themselves. */
  async cleanUp(): Promise<string[]> {
    const stuck = await this.fleet.end();
    this.closed = true;
    this.database.onModuleDestroy();
    rmSync(this.folder, { recursive: true, force: true });
    return stuck;
  }

  /** The last lines of the replicas, for when something went wrong. */
  replicaLines(): string[] {
    return this.fleet.replicas.flatMap(({ name, lines }) => lines.map((line) => `replica ${name}: ${line}`));
  }

  private async day(): Promise<Audit> {
    this.fleet.start(
      // A server that was given may have another demo on it.
      { ...this.wanted, databasePath: this.databasePath, namespace: basename(this.folder) },
      (replica, message) => this.take(replica, message),
      (replica, how) => this.failure.abort(new Error(`replica ${replica.name} ended by itself (${how})`)),
    );
    await this.board.until(() => this.fleet.allUp);
    const fromMs = Date.now();
    this.allStartedMs = fromMs;
    this.noteStart();
    const endMs = fromMs + this.wanted.seconds * 1_000;

    void this.customers.shop();
    await wait((endMs - fromMs) / 2);
    await this.killOne();
    await wait(Math.max(0, endMs - CLOSING_MS - Date.now()));
    await this.customers.goHome();
    await wait(Math.max(0, endMs - Date.now()));
    const untilMs = await this.quietMoment(fromMs);
    this.quietMs = untilMs;
    for (const key of this.tasks.keys()) this.display.note(taskSummary(this.tasks, key, this.fleet.replicas));

    const stuck = await this.fleet.end();
    const expected = expectedFires(fromMs, untilMs);
    const found = audit({
      replicas: this.wanted.replicas,
      books: this.books,
      expected,
      fromMs,
      untilMs,
      acknowledged: this.customers.acknowledged,
    });
    for (const fire of found.lost) this.display.note(this.explainLoss(fire));
    // One that hangs would keep a deployment waiting.
    const faults = stuck.map((name) => `replica ${name} did not drain in time`);
    return { ...found, faults: [...found.faults, ...faults] };
  }

  private take(replica: ReplicaProcess, message: FromReplica): void {
    // A process's last words may arrive after its end.
    if (this.closed) return;
    if (message.type === 'inside-transaction') {
      replica.kill();
      this.standstill = { replica, fireKey: message.fireKey };
    }
    if (message.type === 'task') {
      const move = this.tasks.take(replica.name, message);
      if (move !== undefined) this.noteMove(move);
    }
    this.board.take(replica.name, message);
    this.show();
  }

  /** A fleet of one has nobody who could go on; without coordination the named run has more than one winner. */
  private async killOne(): Promise<void> {
    const { replicas, store } = this.wanted;
    if (replicas === 1) return this.display.note('a fleet of one: its replica is not killed');
    if (store === 'none') return this.display.note('no coordination: nobody is killed, there is enough to see');
    const { standstill, fire } = await awaitStandstill(this.fleet, this.board, () => this.standstill, this.over);
    const held = this.books.openOrders();
    const { name, pid } = standstill.replica;
    this.display.note(`replica ${name} (pid ${pid}) killed inside ${fire.fireKey}; ${held.length} orders stay open`);
    void this.noteRescue(held, nextInvoiceRun(fire.instantMs));
  }

  /** While replicas start and drain homes move often, and without coordination a singleton is everywhere. */
  private noteMove(move: TaskMove): void {
    if (this.allStartedMs === undefined || this.quietMs < Date.now() || this.wanted.store === 'none') return;
    this.display.note(moveNote(move, this.fleet.replicas));
  }

  private async noteRescue(held: readonly number[], next: ExpectedFire): Promise<void> {
    await this.board.until(() => this.board.isConcluded(next));
    const by = this.books.invoicedBy(held);
    this.display.note(
      `those ${held.length} orders: ${by.length === 0 ? 'not invoiced yet' : `invoiced by ${by.join(' and ')}`}`,
    );
  }

  /** Every order is invoiced and every fire so far has ended everywhere: nothing that counts is under way when the replicas drain. */
  private async quietMoment(fromMs: number): Promise<number> {
    let quietMs = 0;
    await this.board.until(() => {
      quietMs = Date.now();
      return (
        this.books.openOrders().length === 0 &&
        expectedFires(fromMs, quietMs).every((fire) => this.board.isConcluded(fire))
      );
    });
    return quietMs;
  }

  private noteStart(): void {
    const replicas = this.fleet.replicas.map(({ name, pid }) => `${name} (pid ${pid})`).join(', ');
    const config = { ...shopConfig(), store: this.wanted.store };
    this.display.note(`replicas ${replicas} on one file, ${this.databasePath}; ${coordinator(config)}`);
    for (const place of this.tasks.places()) this.noteMove(place);
  }

  /** The fires that count: while all replicas are up, but for the one that is killed, and none drains. */
  private show(): void {
    const { allStartedMs, quietMs } = this;
    if (allStartedMs === undefined) return;
    const sources = {
      board: this.board,
      replicas: this.fleet.replicas,
      workOf: (fire: ExpectedFire) => this.books.workOf(fire),
    };
    const fires = this.board.reported().filter(({ instantMs }) => instantMs > allStartedMs && instantMs <= quietMs);
    const lines = fires.map((fire) => ({ fire, line: fireLine(fire, sources) }));
    const concluded = lines.filter(({ fire }) => this.board.isConcluded(fire)).map(({ line }) => line);
    const workOf = (key: string) => (key === 'dispatch' ? `${this.books.parcels()} parcels` : '');
    const status = `${this.fleet.live().length} of ${this.wanted.replicas} replicas, ${this.books.orders().length} orders, ${this.books.invoicedOrders()} invoiced`;
    this.display.show(
      lines.map(({ line }) => line),
      new Set(concluded),
      status,
      taskLines(this.tasks, this.fleet.replicas, workOf),
    );
  }

  private explainLoss(fire: ExpectedFire): string {
    const reports = this.fleet.replicas.map(({ name, killed }) => {
      const report = this.board.report(fire, name);
      if (report === undefined)
        return `replica ${name} ${killed ? 'was killed before it said anything' : 'said nothing'}`;
      if (report.kind === 'not-run') return `replica ${name}: ${report.reason} ${report.error ?? ''}`.trim();
      return `replica ${name}: ${report.kind}${killed ? ', then killed' : ''}`;
    });
    return `lost ${fire.fireKey}: ${reports.join('; ')}`;
  }
}
