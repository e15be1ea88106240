import { run } from '../../scripts/run.mjs';

/** A fire is at most a second away; the rest is for a busy machine. Whoever reaches the limit hangs. */
const TIMEOUT_MS = 30_000;

export const bootChecks = (nest11, nest12) =>
  [
    { app: nest11, file: 'app.cjs', how: 'CommonJS' },
    // What Jest and older tools load: the CommonJS build itself.
    {
      app: nest11,
      file: 'app.cjs',
      how: 'CommonJS without require of ES modules',
      flags: ['--no-experimental-require-module'],
    },
    { app: nest11, file: 'app.mjs', how: 'ES modules' },
    { app: nest12, file: 'app.mjs', how: 'ES modules' },
    { app: nest12, file: 'app.cjs', how: 'CommonJS that requires ES modules' },
  ].map(({ app, file, how, flags = [] }) => ({
    name: `an application on Nest ${app.nestMajor} fires once, closes and ends by itself: ${how}`,
    test: async () => {
      const { code, output, timedOut } = await run(process.execPath, [...flags, file], {
        cwd: app.path,
        quiet: true,
        timeoutMs: TIMEOUT_MS,
      });
      if (timedOut) return `still running after ${TIMEOUT_MS} ms\n${output}`;
      if (code !== 0) return `exit code ${code}\n${output}`;
      return /^beats=[1-9]/m.test(output) ? undefined : output;
    },
  }));
