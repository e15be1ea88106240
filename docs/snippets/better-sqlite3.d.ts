/** A driver that snippets name and that is not installed here; libsql has the same interface. */
declare module 'better-sqlite3' {
  import Database from 'libsql';
  export default Database;
}
