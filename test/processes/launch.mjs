/**
 * Compiles the library and its harnesses into a folder of their own, and starts a launcher there for each store: what `npm run test:chaos` and `npm run test:rolling` do. With
 * `--store all` the last line counts the stores.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled } from '../../scripts/install.mjs';
import { tallyLine } from '../../scripts/tally.mjs';
import { installServers } from '../servers/install.mjs';

const ALL = ['sqlite', 'redis', 'postgres'];

/** `script` lies in the folder, as it is compiled. `atOnce`: of `--store all`, so many stores have their turn together. Answers whether all passed. */
async function launchStores(script, given, atOnce) {
  const place = given.findIndex((argument, i) => given[i - 1] === '--store' && argument === 'all');
  await ensureInstalled();
  // Needs what has just been installed.
  const { compileInto, environment } = await import('./compile.mjs');
  if (given.includes('redis') || given.includes('postgres') || place > 0) installServers();
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-compiled-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  await compileInto(folder);

  const launchers = new Set();
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => {
      for (const launcher of launchers) launcher.kill('SIGKILL');
    });
  /** What a launcher started ends with it, and it with this process. What several at once say is shown one after the other. */
  async function launch(args) {
    const alone = place < 0 || atOnce === 1;
    const launcher = fork(join(folder, script), args, { env: environment(), silent: !alone });
    launchers.add(launcher);
    let output = '';
    for (const stream of [launcher.stdout, launcher.stderr])
      stream?.setEncoding('utf8').on('data', (text) => (output += text));
    const code = await new Promise((resolve) => launcher.on('close', resolve));
    launchers.delete(launcher);
    if (!alone) console.log(output);
    return code === 0;
  }

  if (place < 0) return launch(given);
  const tally = { passed: 0, failed: 0 };
  const waiting = [...ALL];
  const lane = async () => {
    for (let store = waiting.shift(); store !== undefined; store = waiting.shift())
      tally[(await launch(given.with(place, store))) ? 'passed' : 'failed'] += 1;
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  console.log(`\n${tallyLine(tally)}`);
  return tally.failed === 0;
}

/** For a command: ends its process by the outcome. */
export async function launchCommand(script, { atOnce = 1 } = {}) {
  process.exitCode = (await launchStores(script, process.argv.slice(2), atOnce)) ? 0 : 1;
}
