import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { TcpProxy } from './tcp-proxy.js';

/** `once` would reject with the error that comes before. */
const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

describe('the path between a replica and its server', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  /** A server that says everything back, and a connection to it through a path. */
  async function path(fraction = () => 0) {
    const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    ends.push(() => new Promise((resolve) => echo.close(resolve)));
    const proxy = await TcpProxy.start((echo.address() as AddressInfo).port, fraction);
    ends.push(() => proxy.stop());
    const client = connect(proxy.port, '127.0.0.1');
    client.on('error', () => {});
    await once(client, 'connect');
    return { proxy, client };
  }

  it('carries bytes both ways', async () => {
    const { client } = await path();
    client.write('hello');
    expect(String((await once(client, 'data'))[0])).toBe('hello');
  });

  it.each([
    ['slow', { delayMs: 60, lossShare: 0 }, 120],
    ['lossy', { delayMs: 0, lossShare: 1 }, 400],
  ])('is %s and keeps their order', async (_, quality, leastMs) => {
    const { proxy, client } = await path();
    proxy.become(quality);
    const startedMs = performance.now();
    let heard = '';
    client.on('data', (chunk) => {
      heard += chunk;
    });
    for (const word of ['one ', 'two ', 'three']) client.write(word);
    while (heard !== 'one two three') await once(client, 'data');
    // A timer may be a moment early.
    expect(performance.now() - startedMs).toBeGreaterThan(leastMs - 10);
  });

  it('keeps the order of chunks that come while others wait, whatever each of them has to wait', async () => {
    let draws = 0;
    // Every third chunk is lost, each for another time.
    const { proxy, client } = await path(() => {
      draws += 1;
      return draws % 3 === 0 ? (draws % 7) / 100 : 0.9;
    });
    const sent = Array.from({ length: 300 }, (_, i) => `${i} `).join('');
    let heard = '';
    client.on('data', (chunk) => {
      heard += chunk;
    });
    for (let i = 0; i < 300; i += 1) {
      proxy.become({ delayMs: (i * 7) % 20, lossShare: i % 2 === 0 ? 0.5 : 0 });
      client.write(`${i} `);
      // So that each is a chunk of its own.
      await new Promise((resolve) => setImmediate(resolve));
    }
    while (heard.length < sent.length) await once(client, 'data');
    expect(heard).toBe(sent);
  });

  it('cuts what is there, and lets nothing through until it is healed', async () => {
    const { proxy, client } = await path();
    proxy.cut();
    await closed(client);
    const refused = connect(proxy.port, '127.0.0.1').on('error', () => {});
    await closed(refused);
    expect(refused.bytesRead).toBe(0);
    proxy.heal();
    const again = connect(proxy.port, '127.0.0.1');
    again.write('back');
    expect(String((await once(again, 'data'))[0])).toBe('back');
    again.destroy();
  });
});
