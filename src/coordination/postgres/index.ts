export type { PostgresBackendOptions } from './postgres-backend.js';
export { PostgresBackend } from './postgres-backend.js';
export type { PostgresPool, PostgresQueryResult } from './postgres-client.js';
export type { PostgresNames } from './postgres-schema.js';
export { createSchema, schemaSql } from './postgres-schema.js';
