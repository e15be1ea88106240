// What the clients of the guide look like to it. None of them is installed here.
declare const dataSource: { query(text: string, values?: unknown[]): Promise<unknown[]> };
declare const prisma: { $queryRawUnsafe<T>(text: string, ...values: unknown[]): Promise<T> };
interface KnexSession {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
}
declare const knex: {
  client: { acquireConnection(): Promise<KnexSession>; releaseConnection(session: KnexSession): Promise<void> };
};
declare const db: { $client: import('pg').Pool };
declare const sql: { unsafe(text: string, values?: string[]): PromiseLike<readonly unknown[]> };
declare class CompiledQuery {
  private constructor();
  static raw(text: string, values?: unknown[]): CompiledQuery;
}
declare const kysely: { executeQuery(query: CompiledQuery): Promise<{ rows: unknown[] }> };
