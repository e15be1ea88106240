/**
 * `npm test`: all specs on the Nest of package.json, then those that touch Nest once more on Nest 12. Installs what is missing
 * first, so it works in a fresh clone. `--only=main` or `--only=nest12` runs one pass; other arguments go to Jest.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installServers } from '../test/servers/install.mjs';
import { ensureInstalled } from './install.mjs';
import { ROOT, run } from './run.mjs';
import { sum, tallyLine, tallyOfJest } from './tally.mjs';

const PASSES = [
  {
    name: 'main',
    title: 'Nest 11, CommonJS',
    folder: '.',
    config: 'jest.config.mjs',
    nodeOptions: [],
    env: { NEST_MAJOR: '11' },
  },
  {
    name: 'nest12',
    title: 'Nest 12, ES modules',
    folder: 'test/nest-12',
    config: 'test/nest-12/jest.config.mjs',
    // Nest 12 is published as ES modules alone, which Jest loads only behind this flag.
    nodeOptions: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    env: { NEST_MAJOR: '12' },
  },
];

const only = process.argv.find((argument) => argument.startsWith('--only='))?.slice('--only='.length);
const jestArguments = process.argv.slice(2).filter((argument) => !argument.startsWith('--only='));
const reports = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-test-'));

async function runPass(pass) {
  await ensureInstalled(pass.folder);
  console.log(`\n${pass.title}`);
  const report = join(reports, `${pass.name}.json`);
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const { code } = await run(
    process.execPath,
    [...pass.nodeOptions, jest, '--config', pass.config, '--json', '--outputFile', report, ...jestArguments],
    { env: pass.env },
  );
  const tally = tallyOfJest(report);
  // Jest can fail without a failed test, for instance when no spec was found.
  return code !== 0 && tally.failed === 0 ? { ...tally, failed: 1 } : tally;
}

await ensureInstalled();
const missing = installServers();
if (missing.length > 0)
  console.log(`Not on this machine: ${missing.join(', ')}. The specs that need one say what to do.`);
const tallies = [];
for (const pass of PASSES) if (only === undefined || only === pass.name) tallies.push(await runPass(pass));
rmSync(reports, { recursive: true, force: true });

const total = sum(tallies);
console.log(`\n${tallyLine(total)}`);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);
