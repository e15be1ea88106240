import { execFile } from 'node:child_process';
import { describe, expect, it, jest } from '@jest/globals';

jest.setTimeout(300_000);

/** A short rollout: how it ended, and its last line. */
function rollout(
  ...args: string[]
): Promise<{ readonly code: number; readonly lastLine: string; readonly output: string }> {
  const short = ['--store', 'sqlite', '--seconds', '8', '--seed', '1', ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, ['test/rolling/main.mjs', ...short], { timeout: 240_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ code, lastLine: stdout.trim().split('\n').at(-1) ?? '', output: stdout + stderr });
    });
  });
}

describe('the verdict of a rollout', () => {
  const runs = Promise.all(['grant-twice', 'drop-claimed', 'leave-at-once'].map((how) => rollout('--break', how)));

  it('finds a store that grants a fire twice', async () => {
    const [twice] = await runs;
    expect(twice?.lastLine).toMatch(/ duplicates=[1-9]\d* /);
    expect(twice?.code).toBe(1);
  });

  it('finds a replica that drops what it is granted while it drains', async () => {
    const [, dropped] = await runs;
    expect(dropped?.lastLine).toMatch(/ lost=[1-9]\d*$/);
    expect(dropped?.code).toBe(1);
  });

  it('finds a replica that leaves its methods behind', async () => {
    const [, , left] = await runs;
    expect(left?.output).toContain('never ended');
    expect(left?.lastLine).toMatch(/ lost=[1-9]\d*$/);
    expect(left?.code).toBe(1);
  });

  it('takes no store that does not exist, and says how to call it', async () => {
    const { code, output } = await rollout('--store', 'memory');
    expect(code).toBe(1);
    expect(output).toContain('--store must be sqlite or redis or postgres.\nnpm run test:rolling -- ');
  });
});
