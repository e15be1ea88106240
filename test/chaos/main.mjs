/**
 * `npm run test:chaos`: compiles the library and the harness into a folder of their own, and starts a launcher there for each store. See docs/chaos.md. With
 * `--store all` the stores have their turn at the same time, each report is printed whole, and the last line counts them.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled } from '../../scripts/install.mjs';
import { tallyLine } from '../../scripts/tally.mjs';
import { compileInto, environment } from '../processes/compile.mjs';
import { installServers } from '../servers/install.mjs';

const ALL = ['sqlite', 'redis', 'postgres'];
const given = process.argv.slice(2);
const place = given.findIndex((argument, i) => given[i - 1] === '--store' && argument === 'all');

await ensureInstalled();
if (given.includes('redis') || given.includes('postgres') || place > 0) installServers();
const folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-chaos-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
await compileInto(folder);

/** What a launcher started ends with it, and it with this process. */
function launch(args, stdio) {
  const launcher = fork(join(folder, 'test/chaos/launcher.js'), args, { env: environment(), stdio });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => launcher.kill('SIGKILL'));
  let output = '';
  launcher.stdout?.on('data', (chunk) => (output += chunk));
  launcher.stderr?.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => launcher.on('close', (code) => resolve({ code: code ?? 1, output })));
}

if (place < 0) {
  process.exitCode = (await launch(given, 'inherit')).code;
} else {
  const ends = await Promise.all(
    ALL.map((store) => launch(given.with(place, store), ['ignore', 'pipe', 'pipe', 'ipc'])),
  );
  for (const { output } of ends) console.log(output);
  const passed = ends.filter(({ code }) => code === 0).length;
  console.log(tallyLine({ passed, failed: ends.length - passed }));
  process.exitCode = passed === ends.length ? 0 : 1;
}
