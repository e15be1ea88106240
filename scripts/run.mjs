import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Runs a command to its end and gives its exit code. `quiet` keeps the output and gives it back instead of showing it. */
export function run(command, args, { cwd = ROOT, env = {}, quiet = false, timeoutMs } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
      // A shell is needed for `npm` on Windows, where it is a batch file.
      shell: process.platform === 'win32' && command === 'npm',
    });
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    let timedOut = false;
    const timer =
      timeoutMs &&
      setTimeout(() => {
        timedOut = true;
        child.kill('SIGKILL');
      }, timeoutMs);
    const end = (code, note = '') => {
      clearTimeout(timer);
      resolve({ code, output: output + note, timedOut });
    };
    child.on('error', (error) => end(1, String(error)));
    child.on('close', (code, signal) => end(code ?? 1, signal ? `\nended by ${signal}` : ''));
  });
}

/** Like `run`, but a failure ends this process with the command's exit code. */
export async function must(command, args, options) {
  const { code, output } = await run(command, args, options);
  if (code === 0) return;
  if (output) console.error(output);
  console.error(`failed (${code}): ${command} ${args.join(' ')}`);
  process.exit(code);
}
