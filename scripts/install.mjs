import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { must, ROOT } from './run.mjs';

function packagesIn(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/**
 * npm writes what it installed into node_modules/.package-lock.json as its last act. Comparing that with the lock file is more
 * exact than file times (a fresh clone's are all alike) and also sees an install that was interrupted.
 */
function isInstalled(folder) {
  const wanted = packagesIn(join(folder, 'package-lock.json'));
  const present = packagesIn(join(folder, 'node_modules', '.package-lock.json'));
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(
    ([path, entry]) =>
      path === '' ||
      present[path]?.version === entry.version ||
      // Binaries of other platforms are in the lock file, but rightly not here.
      ((entry.optional || entry.devOptional || entry.peer) && present[path] === undefined),
  );
}

/** Makes node_modules what the lock file says; does nothing if it is so already. */
export async function ensureInstalled(folder = '.') {
  const cwd = join(ROOT, folder);
  if (isInstalled(cwd)) return;
  console.log(`npm ci${folder === '.' ? '' : ` in ${folder}`} …`);
  await must('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd, quiet: true });
}
