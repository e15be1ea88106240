import { type AddressInfo, createServer } from 'node:net';

/**
 * A loopback port that was free a moment ago. Another process can take it before a server does: whoever starts one on it tries again with another
 * (`startOnFreePort`).
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** Starts with another port where the first was taken meanwhile. */
export async function startOnFreePort<T>(start: (port: number) => Promise<T>, attempts = 3): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePort());
    } catch (cause) {
      if (attempt === attempts) throw cause;
    }
  }
}
