/**
 * Puts the servers that the tests start on this machine, where that can be done without asking: as root, on Debian and its like. Otherwise the specs that need one
 * fail and say what to install.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Binary → the Debian package that has it. */
const PACKAGES = {
  'redis-server': 'redis-server',
  postgres: 'postgresql',
  pgbouncer: 'pgbouncer',
};

/** Debian keeps PostgreSQL's binaries off the path, a folder for each version, and daemons where only root's path leads. */
const furtherFolders = () => ['/usr/sbin', ...versionsOf('/usr/lib/postgresql').map((folder) => join(folder, 'bin'))];

function versionsOf(folder) {
  try {
    return readdirSync(folder).map((version) => join(folder, version));
  } catch {
    return [];
  }
}

function isHere(binary) {
  return [...(process.env.PATH ?? '').split(delimiter), ...furtherFolders()].some((folder) => {
    try {
      accessSync(join(folder, binary), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Installs what is missing and can be installed; takes seconds the first time, nothing after that. Never throws. Answers what is still missing. */
export function installServers(binaries = Object.keys(PACKAGES)) {
  const missing = () => binaries.filter((binary) => !isHere(binary));
  const packages = missing().map((binary) => PACKAGES[binary]);
  if (packages.length === 0) return [];
  if (process.getuid?.() === 0 && isHere('apt-get')) {
    console.log(`apt-get install ${packages.join(' ')} …`);
    // A lock file of another run, and a list of packages that is old or not there yet, are the two ways to fail.
    const apt = (...args) =>
      spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', '-qq', ...args], {
        stdio: ['ignore', 'ignore', 'inherit'],
        timeout: 180_000,
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      });
    const install = () => apt('install', '-y', '--no-install-recommends', ...packages).status === 0;
    if (!install()) {
      apt('update');
      install();
    }
  }
  return missing();
}
