/**
 * `npm run build`: the same sources twice, dist/cjs for `require` and dist/esm for `import`, side by side. Each gets a package.json with
 * its `type`; it is written last, so its age is the age of a build that finished. `--if-stale` does nothing when no source is newer.
 */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { ROOT, run } from './run.mjs';

const FORMATS = { cjs: 'commonjs', esm: 'module' };
const stampOf = (format) => join(ROOT, 'dist', format, 'package.json');

function isFresh() {
  const ages = Object.keys(FORMATS).map((format) => statSync(stampOf(format), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true }).map((name) => join(ROOT, 'src', name));
  const configs = ['', '.cjs', '.esm'].map((variant) => join(ROOT, `tsconfig${variant}.json`));
  // A deleted file changes its folder's time, so folders count too.
  const newest = Math.max(...[...sources, ...configs].map((path) => statSync(path).mtimeMs));
  return Math.min(...ages) > newest;
}

async function buildFormat(format) {
  const nest = join(ROOT, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const result = await run(process.execPath, [nest, 'build', '-p', `tsconfig.${format}.json`], { quiet: true });
  if (result.code === 0) {
    mkdirSync(join(ROOT, 'dist', format), { recursive: true });
    writeFileSync(stampOf(format), `${JSON.stringify({ type: FORMATS[format], sideEffects: false }, null, 2)}\n`);
  } else {
    console.error(`${format}: ${result.output}`);
  }
  return result.code === 0;
}

await ensureInstalled();
if (!(process.argv.includes('--if-stale') && isFresh())) {
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
  const built = await Promise.all(Object.keys(FORMATS).map(buildFormat));
  if (built.includes(false)) process.exit(1);
}
