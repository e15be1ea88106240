/** `npm run sync-exports`: writes what follows from scripts/subpaths.mjs. test/layout.spec.ts fails when it was forgotten. */
import { readFileSync, writeFileSync } from 'node:fs';
import { packageExports, sourcePaths, typesVersions } from './subpaths.mjs';

function rewrite(file, change) {
  const path = new URL(`../${file}`, import.meta.url);
  const content = JSON.parse(readFileSync(path, 'utf8'));
  change(content);
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}

rewrite('package.json', (manifest) => {
  manifest.exports = packageExports();
  manifest.typesVersions = typesVersions();
});
rewrite('tsconfig.json', (config) => {
  config.compilerOptions.paths = sourcePaths();
});
