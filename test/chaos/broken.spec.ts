import { execFile } from 'node:child_process';
import { describe, expect, it, jest } from '@jest/globals';

jest.setTimeout(240_000);

/** A short run with one kind of fault: how it ended, and its last line. */
function chaos(
  ...args: string[]
): Promise<{ readonly code: number; readonly lastLine: string; readonly output: string }> {
  const small = ['--store', 'sqlite', '--replicas', '2', '--entries', '40', ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, ['test/chaos/main.mjs', ...small], { timeout: 200_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ code, lastLine: stdout.trim().split('\n').at(-1) ?? '', output: stdout + stderr });
    });
  });
}

describe('the verdict of a chaos run', () => {
  const pause = ['--seconds', '8', '--seed', '1', '--faults', 'store-pause'];
  const skew = ['--seconds', '12', '--seed', '5', '--faults', 'skew'];
  const run = Promise.all([
    chaos(...pause),
    chaos(...pause, '--break', 'grant-on-error'),
    chaos(...skew, '--break', 'grant-by-instance'),
  ]);

  it('is satisfied with a claimer that grants nothing while its store is away', async () => {
    const [{ code, lastLine, output }] = await run;
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(lastLine).toMatch(
      /^chaos: store=sqlite fires=\d+ runs=\d+ duplicates=0 unexplained=0 faults=store-pause:1$/,
    );
  });

  it('finds a claimer that does', async () => {
    const [, { code, lastLine }] = await run;
    expect(lastLine).toMatch(/ duplicates=[1-9]\d* /);
    expect(code).toBe(1);
  });

  it('finds claims that are granted to the replica instead of the pass', async () => {
    const [, , { code, lastLine }] = await run;
    expect(lastLine).toMatch(/ duplicates=[1-9]\d* /);
    expect(code).toBe(1);
  });
});
