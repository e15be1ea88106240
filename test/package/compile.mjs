import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../scripts/run.mjs';
import { SUBPATHS, specifierOf } from '../../scripts/subpaths.mjs';

const { ModuleKind, ModuleResolutionKind } = ts;

const options = {
  target: ts.ScriptTarget.ES2022,
  // No DOM: the library's declarations must not need a browser's types.
  lib: ['lib.es2022.d.ts'],
  types: ['node'],
  typeRoots: [join(ROOT, 'node_modules', '@types')],
  strict: true,
  exactOptionalPropertyTypes: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/** Compiles files of an application. Declarations are checked too, but only the library's: others' are not ours to mend. */
export function compile(app, files, moduleOptions) {
  const program = ts.createProgram(
    files.map((file) => join(app.path, file)),
    { ...options, ...moduleOptions },
  );
  const ours = (diagnostic) =>
    diagnostic.file === undefined ||
    !diagnostic.file.fileName.includes('/node_modules/') ||
    diagnostic.file.fileName.includes('/node_modules/nestjs-distributed-cron/');
  const emitted = moduleOptions.noEmit ? [] : program.emit().diagnostics;
  const diagnostics = [...ts.getPreEmitDiagnostics(program), ...emitted].filter(ours);
  const host = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => app.path, getNewLine: () => '\n' };
  return { program, fault: ts.formatDiagnostics(diagnostics, host) };
}

/** A file that imports every subpath whole, so that each of its declarations is loaded and checked. */
export function writeImportAll(app, name) {
  const lines = Object.keys(SUBPATHS).map(
    (subpath, index) => `export * as subpath${index} from '${specifierOf(subpath)}';`,
  );
  writeFileSync(join(app.path, name), lines.join('\n'));
  return name;
}

const NODE16 = { module: ModuleKind.Node16, moduleResolution: ModuleResolutionKind.Node16 };
const NODENEXT = { module: ModuleKind.NodeNext, moduleResolution: ModuleResolutionKind.NodeNext };
const BUNDLER = { module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler, noEmit: true };

export const compileChecks = (nest11, nest12) =>
  [
    // The first of each application also writes the .cjs and .mjs that the boot checks run.
    { app: nest11, mode: 'node16, CommonJS', extension: 'cts', moduleOptions: NODE16 },
    { app: nest11, mode: 'node16, ES modules', extension: 'mts', moduleOptions: NODE16 },
    { app: nest11, mode: 'bundler', extension: 'mts', moduleOptions: BUNDLER },
    // Under node16 TypeScript refuses to require an ES module, which Nest 12 is; nodenext knows that Node can.
    { app: nest12, mode: 'nodenext, CommonJS', extension: 'cts', moduleOptions: NODENEXT },
    { app: nest12, mode: 'nodenext, ES modules', extension: 'mts', moduleOptions: NODENEXT },
    { app: nest12, mode: 'bundler', extension: 'mts', moduleOptions: BUNDLER },
  ].map(({ app, mode, extension, moduleOptions }) => ({
    name: `an application on Nest ${app.nestMajor} compiles: ${mode}`,
    test: async () => compile(app, [`app.${extension}`, writeImportAll(app, `all.${extension}`)], moduleOptions).fault,
  }));
