/**
 * `npm run demo`: installs what is missing, builds the library and the sample application where a source is newer than its
 * build, starts the server that the store needs, where there is none yet, and the sample application's fleet with the arguments it was given
 * (`npm run demo -- --seconds 20 --json`).
 *
 * sample-app/tsconfig.json compiles sample-app/src to sample-app/dist; the entry is sample-app/src/demo/main.ts. It imports the library by its
 * name, as an application would: Node resolves the name to this package's own `exports`, hence dist/, because sample-app/
 * has no package.json of its own. Do not add one.
 */
import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './install.mjs';
import { must, ROOT } from './run.mjs';

const SAMPLE = join(ROOT, 'sample-app');
const ENTRY = join(SAMPLE, 'dist', 'demo', 'main.js');
const ageOf = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function isStale() {
  const sources = readdirSync(join(SAMPLE, 'src'), { recursive: true }).map((name) => join(SAMPLE, 'src', name));
  const inputs = [...sources, join(SAMPLE, 'tsconfig.json'), join(ROOT, 'dist', 'esm', 'package.json')];
  return Math.max(...inputs.map(ageOf)) > ageOf(ENTRY);
}

await ensureInstalled();
await must(process.execPath, [join(ROOT, 'scripts', 'build.mjs'), '--if-stale']);
if (isStale()) await must(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', SAMPLE]);

// What is wrong with the arguments, the demo says.
const { store } = parseArgs({ options: { store: { type: 'string' } }, strict: false }).values;
// Not before the install: it needs a package.
const { startDemoServer } = await import('./demo-server.mjs');
const server = await startDemoServer(store).catch(({ message }) => {
  console.error(`demo: ${message}`);
  process.exit(1);
});

const demo = spawn(process.execPath, [ENTRY, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, ...server.env },
});
// The terminal sends Ctrl-C to both; this process stays to pass on how the demo ended.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => demo.kill('SIGTERM'));
demo.on('exit', async (code, signal) => {
  await server.stop();
  process.exit(code ?? (signal ? 1 : 0));
});
