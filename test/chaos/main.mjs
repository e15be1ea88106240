/**
 * `npm run test:chaos`: compiles the library and the harness into a folder of their own, and starts a launcher there for each store. See docs/chaos.md. With
 * `--store all` the stores have their turn one after the other, and the last line counts them.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled } from '../../scripts/install.mjs';
import { tallyLine } from '../../scripts/tally.mjs';
import { installServers } from '../servers/install.mjs';

const ALL = ['sqlite', 'redis', 'postgres'];
const given = process.argv.slice(2);
const place = given.findIndex((argument, i) => given[i - 1] === '--store' && argument === 'all');

await ensureInstalled();
// Needs what has just been installed.
const { compileInto, environment } = await import('../processes/compile.mjs');
if (given.includes('redis') || given.includes('postgres') || place > 0) installServers();
const folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-chaos-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
await compileInto(folder);

/** What a launcher started ends with it, and it with this process. Answers its exit code. */
function launch(args) {
  const launcher = fork(join(folder, 'test/chaos/launcher.js'), args, { env: environment() });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => launcher.kill('SIGKILL'));
  return new Promise((resolve) => launcher.on('close', (code) => resolve(code ?? 1)));
}

if (place < 0) {
  process.exitCode = await launch(given);
} else {
  const tally = { passed: 0, failed: 0 };
  for (const store of ALL) tally[(await launch(given.with(place, store))) === 0 ? 'passed' : 'failed'] += 1;
  console.log(`\n${tallyLine(tally)}`);
  process.exitCode = tally.failed > 0 ? 1 : 0;
}
