import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { run } from '../../scripts/run.mjs';
import { SUBPATHS, specifierOf } from '../../scripts/subpaths.mjs';
import { compile, writeImportAll } from './compile.mjs';

const LIST = new URL('./public-api.txt', import.meta.url);
const HEADER = `# What each subpath exports: values first, then the names that are types alone. A change here is a change of the public API.
# \`npm run test:package -- --update\` rewrites the file; read its diff as a user would.
`;

const alreadyRead = {};

/** Everything the declarations export, by subpath: values and types apart. Reading them takes seconds, so each build is read once. */
const declaredNames = (app, extension) => (alreadyRead[extension] ??= readDeclaredNames(app, extension));

function readDeclaredNames(app, extension) {
  const file = writeImportAll(app, `names.${extension}`);
  const { program } = compile(app, [file], {
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  const namespaces = checker.getExportsOfModule(
    checker.getSymbolAtLocation(program.getSourceFile(join(app.path, file))),
  );
  return Object.fromEntries(
    Object.keys(SUBPATHS).map((subpath, index) => {
      const named = namespaces.find((symbol) => symbol.name === `subpath${index}`);
      const symbols = checker.getExportsOfModule(checker.getAliasedSymbol(named));
      const isValue = (symbol) => {
        const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
        return (target.flags & ts.SymbolFlags.Value) !== 0;
      };
      const names = (wanted) =>
        symbols
          .filter((symbol) => isValue(symbol) === wanted)
          .map(({ name }) => name)
          .sort();
      return [subpath, { values: names(true), types: names(false) }];
    }),
  );
}

/** Everything that exists at run time, by subpath; `load` is the expression that loads it. */
async function loadedNames(app, inputType, load) {
  const specifiers = JSON.stringify(
    Object.entries(SUBPATHS).map(([subpath, entry]) => [subpath, specifierOf(subpath), entry]),
  );
  const script = `(async () => {
    const names = {};
    for (const [subpath, specifier, entry] of ${specifiers}) names[subpath] = Object.keys(${load}).sort();
    console.log(JSON.stringify(names));
  })();`;
  const { code, output } = await run(process.execPath, [`--input-type=${inputType}`, '-e', script], {
    cwd: app.path,
    quiet: true,
  });
  if (code !== 0) throw new Error(output);
  return JSON.parse(output);
}

const format = (names) =>
  HEADER +
  Object.entries(names)
    .map(([subpath, { values, types }]) =>
      [
        '',
        specifierOf(subpath),
        ...values.map((name) => `  ${name}`),
        ...types.map((name) => `  type ${name}`),
        '',
      ].join('\n'),
    )
    .join('');

function difference(wanted, got) {
  const [wantedLines, gotLines] = [wanted.split('\n'), got.split('\n')];
  return [
    ...wantedLines.filter((line) => !gotLines.includes(line)).map((line) => `- ${line.trim()}`),
    ...gotLines.filter((line) => !wantedLines.includes(line)).map((line) => `+ ${line.trim()}`),
  ].join('\n');
}

export const publicApiChecks = (app) => [
  {
    name: 'each subpath exports what public-api.txt lists',
    test: async () => {
      const declared = format(declaredNames(app, 'mts'));
      if (process.argv.includes('--update')) writeFileSync(LIST, declared);
      const listed = readFileSync(LIST, 'utf8');
      // Names of two subpaths can be alike, so the lines alone do not decide.
      return listed === declared ? undefined : difference(listed, declared) || 'a name stands under another subpath';
    },
  },
  ...[
    { build: 'ES modules', extension: 'mts', inputType: 'module', load: 'await import(specifier)' },
    // By file: by name, a Node that can require ES modules would get the other build.
    {
      build: 'CommonJS',
      extension: 'cts',
      inputType: 'commonjs',
      load: "require('./node_modules/nestjs-distributed-cron/dist/cjs/' + entry + '.js')",
    },
  ].map(({ build, extension, inputType, load }) => ({
    name: `what the declarations promise exists at run time: ${build}`,
    test: async () => {
      const declared = declaredNames(app, extension);
      const loaded = await loadedNames(app, inputType, load);
      return Object.keys(SUBPATHS)
        .map((subpath) => difference(declared[subpath].values.join('\n'), loaded[subpath].join('\n')))
        .filter((fault) => fault !== '')
        .join('\n');
    },
  })),
  {
    name: 'a process that both imports and requires the library holds one copy',
    test: async () => {
      const script = `import { createRequire } from 'node:module';
        import * as imported from 'nestjs-distributed-cron';
        const required = createRequire(import.meta.url)('nestjs-distributed-cron');
        console.log(imported.DistributedCronModule === required.DistributedCronModule);`;
      const { output } = await run(process.execPath, ['--input-type=module', '-e', script], {
        cwd: app.path,
        quiet: true,
      });
      return output.includes('true') ? undefined : output;
    },
  },
];
