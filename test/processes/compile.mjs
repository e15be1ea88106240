/**
 * Compiles the library and what runs beside it in processes of its own into a folder: `node test/processes/compile.mjs <folder>`. A copy and not dist/, which may be older than the
 * sources, or be built anew by somebody else while the processes run.
 *
 * The folder is a package of the library's own name, so that what is in it imports the library as an application does. Everything else is found through
 * NODE_PATH (`environment`).
 */
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';
import { PACKAGE_NAME, SUBPATHS } from '../../scripts/subpaths.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['src', 'test/processes', 'test/chaos', 'test/rolling', 'test/servers'];
const SWC = {
  swcrc: false,
  module: { type: 'commonjs' },
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
    keepClassNames: true,
  },
};

/** `from` are folders that need no others than each other. */
export async function compileInto(folder, from = FOLDERS) {
  const files = from.flatMap((part) =>
    readdirSync(join(ROOT, part), { recursive: true, encoding: 'utf8' }).map((name) => join(part, name)),
  );
  const compiled = files.filter((file) => file.endsWith('.ts') && !/\.(spec|suite|fixture|d)\.ts$/.test(file));
  const copied = files.filter((file) => file.startsWith('test/servers') && file.endsWith('.mjs'));
  await Promise.all(
    compiled.map(async (file) => {
      const { code } = await transformFile(join(ROOT, file), SWC);
      write(join(folder, file.replace(/\.ts$/, '.js')), code);
    }),
  );
  for (const file of copied) copyFileSync(join(ROOT, file), join(folder, file));
  const exports = Object.entries(SUBPATHS).map(([subpath, entry]) => [subpath, `./src/${entry}.js`]);
  write(
    join(folder, 'package.json'),
    JSON.stringify({ name: PACKAGE_NAME, type: 'commonjs', exports: Object.fromEntries(exports) }),
  );
}

/** The environment of processes in such a folder. */
export function environment(env = process.env) {
  return { ...env, NODE_OPTIONS: '', NODE_PATH: join(ROOT, 'node_modules') };
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await compileInto(process.argv[2]);
  // For whoever cannot import an ES module.
  console.log(JSON.stringify({ NODE_PATH: environment().NODE_PATH }));
}
