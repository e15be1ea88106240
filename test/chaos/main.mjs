/** `npm run test:chaos`: compiles the library and the harness into a folder of their own, and starts the launcher there. See docs/chaos.md. */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled } from '../../scripts/install.mjs';
import { compileInto, environment } from '../processes/compile.mjs';

await ensureInstalled();
const folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-chaos-'));
await compileInto(folder);
const launcher = fork(join(folder, 'test/chaos/launcher.js'), process.argv.slice(2), { env: environment() });
// The terminal sends Ctrl-C to both; what the launcher started ends with it.
process.on('SIGINT', () => launcher.kill('SIGKILL'));
process.on('SIGTERM', () => launcher.kill('SIGKILL'));
launcher.on('exit', (code) => {
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});
