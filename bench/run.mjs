/**
 * `npm run bench -- <name>`: installs what the benchmarks compare with (on first use), builds the library, and runs `<name>.mjs` or `<name>/main.mjs`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../scripts/install.mjs';
import { must } from '../scripts/run.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const [name, ...rest] = process.argv.slice(2);

const entryOf = (benchmark) =>
  [`${benchmark}.mjs`, join(benchmark, 'main.mjs')].find((file) => existsSync(join(here, file)));

const names = readdirSync(here, { withFileTypes: true })
  .map((file) => (file.isDirectory() ? file.name : file.name.replace(/\.mjs$/, '')))
  .filter((benchmark) => benchmark !== 'run' && entryOf(benchmark) !== undefined);

if (name === undefined || !names.includes(name)) {
  console.error(`usage: npm run bench -- <name>, where <name> is one of: ${names.join(', ')}`);
  process.exit(2);
}

await ensureInstalled('bench');
await must(process.execPath, [join(here, '..', 'scripts', 'build.mjs'), '--if-stale']);
// The collector is asked for by hand, so that bytes are counted and not guessed.
await must(process.execPath, ['--expose-gc', join(here, entryOf(name)), ...rest]);
