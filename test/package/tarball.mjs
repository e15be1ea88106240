import { join } from 'node:path';
import { ROOT, run } from '../../scripts/run.mjs';

/** Packs the built library into the folder. */
export async function pack(folder) {
  const { code, output } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    quiet: true,
  });
  if (code !== 0) throw new Error(output);
  const [{ filename, files, unpackedSize }] = JSON.parse(output.slice(output.indexOf('[')));
  return { path: join(folder, filename), files: files.map((file) => file.path), unpackedSize };
}

const PUBLISHED = [
  /^dist\/(cjs|esm)\/.+\.(js|d\.ts)$/,
  /^dist\/(cjs|esm)\/package\.json$/,
  /^package\.json$/,
  /^[A-Z]+(\.md)?$/,
  // The tables' statements, for migration tools.
  /^docs\/stores\/postgres\.sql$/,
];
const TEST_ONLY = /\.(spec|suite|fixture)\.|\/fixtures\//;
/** Generous: a file that does not belong is larger than the library. */
const MAX_UNPACKED_BYTES = 3_000_000;

async function tool(name, ...args) {
  const entry = { publint: 'publint/src/cli.js', attw: '@arethetypeswrong/cli/dist/index.js' }[name];
  const { code, output } = await run(process.execPath, [join(ROOT, 'node_modules', entry), ...args], { quiet: true });
  return code === 0 ? undefined : output;
}

export const tarballChecks = (tarball) => [
  {
    name: 'the tarball holds built files and documents, and no tests',
    test: async () => {
      const strangers = tarball.files.filter(
        (file) => !PUBLISHED.some((pattern) => pattern.test(file)) || TEST_ONLY.test(file),
      );
      const missing = ['README.md', 'LICENSE', 'CHANGELOG.md', 'docs/stores/postgres.sql'].filter(
        (file) => !tarball.files.includes(file),
      );
      const faults = [
        ...strangers.map((file) => `does not belong: ${file}`),
        ...missing.map((file) => `missing: ${file}`),
      ];
      if (tarball.unpackedSize > MAX_UNPACKED_BYTES) faults.push(`too large: ${tarball.unpackedSize} bytes`);
      return faults.join('\n');
    },
  },
  { name: 'publint finds nothing', test: () => tool('publint', '--strict', tarball.path) },
  {
    name: 'the types of every subpath resolve in every mode (arethetypeswrong)',
    test: () => tool('attw', tarball.path),
  },
];
