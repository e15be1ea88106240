import type { OnModuleDestroy } from '@nestjs/common';
import Database from 'libsql';
import { SCHEMA } from './schema';

type Value = string | number;

/** The shop's connection. Closed when the application closes, which is after the scheduler has drained: a running job still has it. */
export class ShopDatabase implements OnModuleDestroy {
  private readonly connection: Database.Database;

  constructor(path: string) {
    this.connection = new Database(path, { timeout: 5_000 });
    this.connection.pragma('journal_mode = WAL');
    this.transaction(() => this.connection.exec(SCHEMA));
  }

  run(sql: string, ...values: Value[]): void {
    this.connection.prepare(sql).run(...values);
  }

  rows<Row>(sql: string, ...values: Value[]): Row[] {
    return this.connection.prepare(sql).all(...values) as Row[];
  }

  row<Row>(sql: string, ...values: Value[]): Row | undefined {
    return this.rows<Row>(sql, ...values)[0];
  }

  /** All of it or nothing, and nobody writes in between. */
  transaction<T>(work: () => T): T {
    return this.connection.transaction(work).immediate();
  }

  onModuleDestroy(): void {
    this.connection.close();
  }
}
