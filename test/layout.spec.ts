import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

/**
 * The rules of docs/architecture.md about where code lies and what it may import, read from the sources. Each rule is also shown a
 * file that breaks it: a rule that has gone blind fails here, and not in a year.
 */
interface Source {
  /** Relative to src/, with forward slashes. */
  readonly path: string;
  readonly tree: ts.SourceFile;
}

type Rule = (source: Source) => readonly string[];

const root = join(__dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function parse(path: string, text: string): Source {
  return { path, tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true) };
}

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => path.split(sep).join('/'))
  .filter((path) => path.endsWith('.ts'))
  .map((path) => parse(path, readFileSync(join(root, 'src', path), 'utf8')));

/** The entry files of the public subpaths, as package.json publishes them. */
const entryFiles = Object.values(manifest.exports as Record<string, string | { require: { default: string } }>)
  .flatMap((target) => (typeof target === 'string' ? [] : [target.require.default]))
  .map((file) => posix.relative('dist/cjs', file).replace(/\.js$/, '.ts'));

const LAYERS = ['domain', 'ambient', 'schedule', 'coordination', 'events', 'fire', 'engine', 'tasks', 'nest'];
/** The suite judges backends; it knows nothing of what is built on them. */
const CONFORMANCE_KNOWS = ['domain', 'ambient', 'coordination', 'testing'];
const ADAPTERS = ['memory', 'redis', 'postgres', 'sqlite'];

/** Files of coordination/ that stand between the engine and an adapter. */
const WRAPPERS =
  /^(guarded-|store-calls|claim-(desk|calls|batches|request)|open-claim|waiting-claims|circuit|clock-skew|lease-elector|live-membership|hash-ring)/;

const isTestFile = (path: string) => /\.(spec|suite|fixture)\.ts$/.test(path) || path.includes('/fixtures/');
const isTestOnly = ({ path }: Source) => isTestFile(path);
const folderOf = (path: string) => path.split('/')[0] ?? '';
const adapterOf = (path: string) => {
  const [layer, folder] = path.split('/');
  return layer === 'coordination' && folder !== undefined && ADAPTERS.includes(folder) ? folder : undefined;
};
const isIn = (path: string, ...folders: readonly string[]) => folders.includes(folderOf(path));

function nodesOf(tree: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return nodes;
}

/** What a file imports, types and dynamic imports included: packages by name, own files relative to src/. */
function importsOf({ path, tree }: Source): string[] {
  return ts
    .preProcessFile(tree.text)
    .importedFiles.map(({ fileName }) => fileName)
    .map((name) => (name.startsWith('.') ? posix.join(posix.dirname(path), name).replace(/\.js$/, '.ts') : name));
}

const ownImportsOf = (source: Source) => importsOf(source).filter((name) => name.endsWith('.ts'));

/** A rule about imports: says for each import whether it is allowed. */
const importRule =
  (isAllowed: (imported: string, source: Source) => boolean, importsOfSource = importsOf): Rule =>
  (source) =>
    importsOfSource(source)
      .filter((imported) => !isAllowed(imported, source))
      .map((imported) => `imports ${imported}`);

const importsToTheLeft = importRule((imported, source) => {
  const from = folderOf(source.path);
  const to = folderOf(imported);
  if (from === to || from === 'index.ts') return true;
  if (from === 'testing') return to !== 'conformance';
  if (from === 'conformance') return CONFORMANCE_KNOWS.includes(to);
  // Specs use the shipped test kit and the shipped rules as an application's tests do.
  if (to === 'testing' || to === 'conformance') return isTestOnly(source);
  return LAYERS.includes(to) && LAYERS.indexOf(to) < LAYERS.indexOf(from);
}, ownImportsOf);

const adaptersKnowOnlyPorts = importRule((imported, source) => {
  const adapter = adapterOf(source.path);
  if (adapter === undefined || isTestOnly(source)) return true;
  const isPort = /^coordination\/[^/]+\.ts$/.test(imported) && !WRAPPERS.test(posix.basename(imported));
  return isIn(imported, 'domain', 'ambient') || isPort || adapterOf(imported) === adapter;
}, ownImportsOf);

const nobodyBelowNestKnowsAnAdapter = importRule(
  (imported, source) =>
    adapterOf(imported) === undefined ||
    adapterOf(imported) === adapterOf(source.path) ||
    isTestOnly(source) ||
    source.path === 'index.ts' ||
    isIn(source.path, 'nest', 'testing', 'conformance'),
  ownImportsOf,
);

const shippedCodeNeedsNoTestFile = importRule(
  (imported, source) => isTestOnly(source) || !isTestFile(imported),
  ownImportsOf,
);

const packageOnlyIn = (pattern: RegExp, ...folders: readonly string[]) =>
  importRule((imported, source) => !pattern.test(imported) || isIn(source.path, ...folders));

/** Reads of the wall clock, timers and chance, also where they are passed on without a call. */
const AMBIENT =
  /^(Date\.now|performance\.now|process\.hrtime|Math\.random|set(Timeout|Interval|Immediate)|(crypto\.)?(randomUUID|randomBytes|randomInt|getRandomValues)|globalThis\.set\w+)$/;
const AMBIENT_MODULES = /^(node:)?(timers(\/promises)?|perf_hooks)$/;

/** `this.setTimeout` and `{ setTimeout: … }` are names of our own. */
const isOwnName = (node: ts.Identifier) =>
  (ts.isPropertyAccessExpression(node.parent) ||
    ts.isPropertyAssignment(node.parent) ||
    ts.isClassElement(node.parent) ||
    ts.isTypeElement(node.parent)) &&
  node.parent.name === node;

const timeAndChanceComeFromOutside: Rule = (source) => {
  if (isTestOnly(source) || isIn(source.path, 'ambient', 'testing', 'conformance')) return [];
  const nodes = nodesOf(source.tree);
  const reads = nodes.filter((node) => {
    if (ts.isNewExpression(node)) return node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0;
    if (ts.isPropertyAccessExpression(node)) return AMBIENT.test(node.getText());
    if (!ts.isIdentifier(node) || !AMBIENT.test(node.text)) return false;
    return !isOwnName(node);
  });
  const modules = importsOf(source).filter((name) => AMBIENT_MODULES.test(name));
  return [...reads.map((node) => node.getText()), ...modules];
};

const noVagueFolder: Rule = ({ path }) =>
  posix
    .dirname(path)
    .split('/')
    .filter((folder) => /^(utils?|common|shared|types|interfaces|helpers?)$/.test(folder));

const noInnerBarrel: Rule = ({ path }) =>
  posix.basename(path) === 'index.ts' && !entryFiles.includes(path) ? ['an index.ts that is no public subpath'] : [];

const noVagueName: Rule = ({ tree }) =>
  nodesOf(tree)
    .filter((node) => ts.isClassDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isInterfaceDeclaration(node))
    .map((node) => node.name?.text ?? '')
    .filter((name) => /(manager|helper|util)s?($|[A-Z])/i.test(name));

const entriesNameWhatTheyExport: Rule = ({ path, tree }) =>
  entryFiles.includes(path)
    ? nodesOf(tree)
        .filter((node) => ts.isExportDeclaration(node) && node.exportClause === undefined)
        .map((node) => node.getText())
    : [];

const RULES: readonly { name: string; rule: Rule; broken: readonly [path: string, text: string][] }[] = [
  {
    name: 'a folder imports only folders to the left of it: domain, ambient, schedule, coordination, events, fire, engine, tasks, nest',
    rule: importsToTheLeft,
    broken: [
      ['domain/entry.ts', "import { systemClock } from '../ambient/clock.js';"],
      ['fire/pipeline.ts', "import type { Scheduler } from '../engine/scheduler.js';"],
      ['engine/plan.ts', "const { virtual } = await import('../testing/virtual-clock.js');"],
      ['conformance/suite.ts', "export { X } from '../nest/module.js';"],
      ['conformance/suite.ts', "export { X } from '../engine/plan.js';"],
      ['coordination/sqlite/claimer.ts', "import { X } from '../../conformance/claim-rules.js';"],
      ['domain/stray.ts', "import '../stray/file.js';"],
    ],
  },
  {
    name: 'an adapter imports only domain, ambient and the ports: not what wraps it, and no other adapter',
    rule: adaptersKnowOnlyPorts,
    broken: [
      ['coordination/sqlite/claimer.ts', "import { claims } from '../memory/claims.js';"],
      ['coordination/sqlite/claimer.ts', "import { guarded } from '../guarded-backend.js';"],
      ['coordination/sqlite/claimer.ts', "import { Circuit } from '../circuit.js';"],
      ['coordination/redis/claimer.ts', "import { Scheduler } from '../../engine/scheduler.js';"],
    ],
  },
  {
    name: 'nothing below nest/ knows an adapter',
    rule: nobodyBelowNestKnowsAnAdapter,
    broken: [
      ['engine/scheduler.ts', "import { memory } from '../coordination/memory/backend.js';"],
      ['coordination/guarded-backend.ts', "import { memory } from './memory/backend.js';"],
    ],
  },
  {
    name: 'what is shipped imports no spec, suite or fixture',
    rule: shippedCodeNeedsNoTestFile,
    broken: [
      ['engine/scheduler.ts', "import { replica } from './replica.fixture.js';"],
      ['testing/recorder.ts', "import { cases } from './fixtures/cases.js';"],
    ],
  },
  {
    name: '@nestjs/* is imported only in nest/ and testing/',
    rule: packageOnlyIn(/^@nestjs\//, 'nest', 'testing'),
    broken: [['engine/scheduler.ts', "import { Logger } from '@nestjs/common';"]],
  },
  {
    name: 'rxjs is imported only in events/, nest/ and testing/',
    rule: (source) => (isTestOnly(source) ? [] : packageOnlyIn(/^rxjs(\/|$)/, 'events', 'nest', 'testing')(source)),
    broken: [['fire/pipeline.ts', "import { Subject } from 'rxjs';"]],
  },
  {
    name: 'wall clock, timers and chance come from ambient/',
    rule: timeAndChanceComeFromOutside,
    broken: [
      ['engine/plan.ts', 'const at = Date.now();'],
      ['engine/plan.ts', 'const now = options.now ?? Date.now;'],
      ['engine/plan.ts', 'const at = new Date();'],
      ['engine/plan.ts', 'setTimeout(run, 5);'],
      ['engine/plan.ts', 'globalThis.setInterval(run, 5);'],
      ['engine/plan.ts', 'const later = setImmediate;'],
      ['fire/jitter.ts', 'const share = Math.random();'],
      ['fire/run.ts', 'const startedAt = performance.now();'],
      ['fire/run.ts', "import { randomUUID } from 'node:crypto';"],
      ['fire/run.ts', "import { setTimeout as wait } from 'node:timers/promises';"],
    ],
  },
  {
    name: 'no folder is called utils, common, shared, types, interfaces or helpers',
    rule: noVagueFolder,
    broken: [['nest/interfaces/options.ts', '']],
  },
  {
    name: 'no index.ts but the entries of public subpaths',
    rule: noInnerBarrel,
    broken: [['engine/index.ts', '']],
  },
  {
    name: 'no class or function is called manager, helper or util',
    rule: noVagueName,
    broken: [
      ['engine/x.ts', 'class EntryManager {}'],
      ['engine/x.ts', 'function dateUtil() {}'],
    ],
  },
  {
    name: 'the entries of public subpaths name each export',
    rule: entriesNameWhatTheyExport,
    broken: [['index.ts', "export * from './domain/errors.js';"]],
  },
];

const faultsOf = (rule: Rule, files: readonly Source[]) =>
  files.flatMap((source) => rule(source).map((fault) => `src/${source.path}: ${fault}`));

describe('the layout', () => {
  it('is read from the sources', () => {
    expect(sources.length).toBeGreaterThan(20);
  });

  it.each(RULES)('$name', ({ rule, broken }) => {
    for (const [path, text] of broken) expect(faultsOf(rule, [parse(path, text)])).not.toEqual([]);
    expect(faultsOf(rule, sources)).toEqual([]);
  });

  it('cron-parser is imported in one file of schedule/', () => {
    const importers = sources.filter((source) => !isTestOnly(source) && importsOf(source).includes('cron-parser'));
    expect(importers.map(({ path }) => folderOf(path))).toEqual(['schedule']);
  });

  it('package.json and tsconfig.json follow from scripts/subpaths.mjs; `npm run sync-exports` writes them', () => {
    execFileSync(process.execPath, [join(root, 'scripts', 'sync-exports.mjs'), '--check'], { stdio: 'pipe' });
  });
});
