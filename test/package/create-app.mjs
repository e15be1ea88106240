import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from '../../scripts/run.mjs';

const PEERS = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];

const installedVersion = (peersFrom, name) =>
  JSON.parse(readFileSync(join(ROOT, peersFrom, 'node_modules', name, 'package.json'), 'utf8')).version;

/** An application with the tarball and the peers installed, in the versions that the specs run on. */
export async function createApp({ folder, nestMajor, peersFrom, tarball }) {
  const path = join(folder, `nest-${nestMajor}`);
  mkdirSync(path);
  const peers = PEERS.map((name) => [name, installedVersion(peersFrom, name)]);
  const dependencies = { ...Object.fromEntries(peers), 'nestjs-distributed-cron': `file:${tarball}` };
  writeFileSync(join(path, 'package.json'), JSON.stringify({ private: true, dependencies }));
  for (const extension of ['cts', 'mts'])
    copyFileSync(new URL('./consumer/app.ts', import.meta.url), join(path, `app.${extension}`));
  const { code, output } = await run(
    'npm',
    ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'],
    { cwd: path, quiet: true },
  );
  if (code !== 0) throw new Error(`Nest ${nestMajor} application: ${output}`);
  return { path, nestMajor };
}
