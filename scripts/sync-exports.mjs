/**
 * `npm run sync-exports`: writes what follows from scripts/subpaths.mjs. With `--check` it writes nothing and fails where something
 * would change; test/layout.spec.ts runs that.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { packageExports, sourcePaths, typesVersions } from './subpaths.mjs';

const onlyCheck = process.argv.includes('--check');

function rewrite(file, change) {
  const path = new URL(`../${file}`, import.meta.url);
  const content = JSON.parse(readFileSync(path, 'utf8'));
  const before = JSON.stringify(content);
  change(content);
  if (JSON.stringify(content) === before) return;
  if (onlyCheck) throw new Error(`${file} does not follow from scripts/subpaths.mjs: run npm run sync-exports`);
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}

rewrite('package.json', (manifest) => {
  manifest.exports = packageExports();
  manifest.typesVersions = typesVersions();
});
rewrite('tsconfig.json', (config) => {
  config.compilerOptions.paths = sourcePaths();
});
