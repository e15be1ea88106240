/**
 * `npm run test:package`: packs the library as npm would publish it, installs the tarball in applications outside the repository, and checks
 * what a user gets. A plain script and not a spec, because it needs the build. `-- --update` rewrites public-api.txt.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled } from '../../scripts/install.mjs';
import { must, ROOT } from '../../scripts/run.mjs';
import { tallyLine } from '../../scripts/tally.mjs';
import { bootChecks } from './boot.mjs';
import { compileChecks } from './compile.mjs';
import { createApp } from './create-app.mjs';
import { publicApiChecks } from './public-api.mjs';
import { pack, tarballChecks } from './tarball.mjs';

await ensureInstalled();
await ensureInstalled('test/nest-12');
await must(process.execPath, [join(ROOT, 'scripts', 'build.mjs'), '--if-stale']);

// Outside the repository: below it, Node would find the repository's own packages and a missing dependency would go unseen.
const folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-pack-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const tally = { passed: 0, failed: 0 };

async function check({ name, test }) {
  const startedAt = performance.now();
  const fault = await test().then(
    (found) => found,
    (error) => error.stack,
  );
  tally[fault ? 'failed' : 'passed'] += 1;
  console.log(`${fault ? '✗' : '✓'} ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
  if (fault) console.log(String(fault).trim().replace(/^/gm, '    '));
}

async function inOrder(checks) {
  for (const one of checks) await check(one);
}

const tarball = await pack(folder);
// The installs wait for the network most of the time, so the checks that need no application run meanwhile.
const [nest11, nest12] = await Promise.all([
  createApp({ folder, nestMajor: 11, peersFrom: '.', tarball: tarball.path }),
  createApp({ folder, nestMajor: 12, peersFrom: 'test/nest-12', tarball: tarball.path }),
  inOrder(tarballChecks(tarball)),
]);
await inOrder([...compileChecks(nest11, nest12), ...publicApiChecks(nest11)]);
await Promise.all(bootChecks(nest11, nest12).map(check));

console.log(`\n${tallyLine(tally)}`);
process.exit(tally.failed > 0 || tally.passed === 0 ? 1 : 0);
