import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { expect } from '@jest/globals';
import { transformFileSync, transformSync } from '@swc/core';

const root = resolve(dirname(expect.getState().testPath ?? '.'), '../..');

/** The peers of this pass: Nest 12 has a folder of its own. */
const peers = process.env.NEST_MAJOR === '12' ? [join(root, 'test/nest-12/node_modules')] : [];

const COMMON_JS = {
  swcrc: false,
  module: { type: 'commonjs' },
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
    keepClassNames: true,
  },
} as const;

/** The library compiled into a folder of its own, where applications run as processes of their own. */
export class ChildApplications {
  private readonly folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-'));
  private readonly children = new Set<ChildProcess>();

  constructor() {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
    for (const path of sources.filter((name) => name.endsWith('.ts') && !/\.(spec|suite|fixture)\.ts$/.test(name))) {
      const target = join(this.folder, 'library', path.replace(/\.ts$/, '.js'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, transformFileSync(join(root, 'src', path), COMMON_JS).code);
    }
  }

  /** Runs an application; `library` in its source is the folder of the library. */
  start(source: string): ChildRun {
    const file = join(this.folder, 'application.js');
    writeFileSync(file, transformSync(source, COMMON_JS).code);
    const child = spawn(process.execPath, [file], {
      env: { ...process.env, NODE_OPTIONS: '', NODE_PATH: [...peers, join(root, 'node_modules')].join(delimiter) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.children.add(child);
    return new ChildRun(child);
  }

  remove(): void {
    for (const child of this.children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A process under way, and what it printed. */
export class ChildRun {
  output = '';
  private readonly waiting = new Set<() => void>();
  private readonly end: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;

  constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        this.output += chunk;
        for (const check of this.waiting) check();
      });
    }
    this.end = new Promise((resolveEnd) => child.once('close', (code, signal) => resolveEnd({ code, signal })));
  }

  /** Resolves when it has printed the text; rejects if it ends before. */
  printed(text: string): Promise<void> {
    return new Promise((resolvePrinted, reject) => {
      const check = () => {
        if (!this.output.includes(text)) return;
        this.waiting.delete(check);
        resolvePrinted();
      };
      this.waiting.add(check);
      check();
      void this.end.then(() => reject(new Error(`It ended without "${text}":\n${this.output}`)));
    });
  }

  /** Resolves when it has ended by itself. */
  ended() {
    return this.end;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}
