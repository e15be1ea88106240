import { STORES, type StoreName } from '../processes/open-store.js';
import { Arguments } from '../processes/read-arguments.js';
import { BREAKS, type Break } from './broken-replica.js';

export interface RollingArguments {
  readonly store: StoreName;
  readonly seconds: number;
  readonly seed: number;
  readonly replicas: number;
  readonly break?: Break;
}

const USAGE = `npm run test:rolling -- --store ${STORES.join('|')}|all [--seconds 30] [--seed N] [--replicas 6] [--break ${BREAKS.join('|')}]`;

/** @throws UsageError */
export function readArguments(given: readonly string[]): RollingArguments {
  const args = new Arguments(given, ['store', 'seconds', 'seed', 'replicas', 'break'], USAGE);
  return {
    store: args.oneOf('store', STORES),
    seconds: args.whole('seconds', 30, 8),
    seed: args.whole('seed', Math.floor(Math.random() * 1_000_000), 0),
    // Fewer leave too few idle ones for the entries that do not overlap themselves.
    replicas: args.whole('replicas', 6, 6),
    ...(args.text('break') === undefined ? {} : { break: args.oneOf('break', BREAKS) }),
  };
}
