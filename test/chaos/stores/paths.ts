import { TcpProxy } from '../tcp-proxy.js';

/** A path for each replica, so that one can be harmed alone. */
export async function startPaths(replicas: number, port: number, fraction: () => number) {
  const proxies = await Promise.all(Array.from({ length: replicas }, () => TcpProxy.start(port, fraction)));
  return {
    /** Replicas count from 1. */
    of: (replica: number) => proxies[replica - 1] as TcpProxy,
    stop: async () => {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
    },
  };
}
