import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';

/**
 * Every `ts` block of README.md and docs/ is type-checked against the sources, all in one program. A block stands for itself, as a reader copies it. Where it
 * needs what its reader has, a comment above it, `<!-- context: name -->`, puts docs/snippets/context/name.ts before it.
 */
interface Snippet {
  /** Where a reader finds it: `README.md:25`. */
  readonly place: string;
  readonly fileName: string;
  readonly text: string;
}

const root = process.cwd();
const folder = join(root, 'docs', 'snippets');
const BLOCK = /(?:<!-- context: (?<context>[\w-]+) -->\n+)?^```ts\n(?<code>[\s\S]*?)^```$/gm;

const documents = [
  join(root, 'README.md'),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(root, 'docs', path)),
];

function snippetsOf(path: string): Snippet[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(BLOCK)].map(({ groups, index }, count) => {
    const context = groups?.context;
    const before = context === undefined ? '' : readFileSync(join(folder, 'context', `${context}.ts`), 'utf8');
    const name = relative(root, path).replaceAll(/\W+/g, '-');
    return {
      place: `${relative(root, path)}:${text.slice(0, index).split('\n').length}`,
      fileName: join(folder, `${name}-${count + 1}.ts`),
      // Without an import or export a file is a script, and its names would be everybody's.
      text: `${before}${groups?.code}\nexport {};\n`,
    };
  });
}

function faultsOf(snippets: readonly Snippet[]): Map<string, string[]> {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config;
  const { options } = ts.convertCompilerOptionsFromJson(
    // `await` at the top of a block is a reader's convenience, and needs an ES module.
    { ...config.compilerOptions, module: 'es2022', noEmit: true, declaration: false },
    root,
  );
  const texts = new Map(snippets.map(({ fileName, text }) => [fileName, text]));
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.getSourceFile = (name, ...rest) => {
    const text = texts.get(name);
    return text === undefined ? getSourceFile(name, ...rest) : ts.createSourceFile(name, text, rest[0]);
  };
  const program = ts.createProgram([...texts.keys(), join(folder, 'better-sqlite3.d.ts')], options, host);
  return new Map(
    snippets.map(({ place, fileName }) => {
      const file = program.getSourceFile(fileName);
      const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
      return [place, found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))];
    }),
  );
}

describe('the snippets of the documentation', () => {
  const wrong: Snippet = {
    place: 'a wrong one',
    fileName: join(folder, 'wrong.ts'),
    text: `import { DistributedCronModule } from 'nestjs-distributed-cron';\nDistributedCronModule.forRoot({ timezone: 'UTC' });`,
  };
  const snippets = documents.flatMap(snippetsOf);
  const faults = faultsOf([...snippets, wrong]);

  test('are found', () => {
    expect(snippets.filter(({ place }) => place.startsWith('README.md')).length).toBeGreaterThanOrEqual(4);
  });

  test.each(snippets.map(({ place }) => place))('%s compiles', (place) => {
    expect(faults.get(place)).toEqual([]);
  });

  test('that are wrong do not', () => {
    expect(faults.get(wrong.place)).toHaveLength(1);
  });
});
