export type { SqliteBackendOptions, SqliteHandleOptions, SqlitePathOptions } from './sqlite-backend.js';
export { SqliteBackend } from './sqlite-backend.js';
export type { SqliteDatabase, SqliteDriver, SqliteStatement, SqliteValue } from './sqlite-client.js';
