import { Arguments } from '../processes/read-arguments.js';
import { BREAKS, type Break } from './broken-backend.js';
import { FAULT_KINDS, type FaultKind, STORES, type StoreName } from './fault-plan.js';

export interface ChaosArguments {
  readonly store: StoreName;
  readonly seconds: number;
  readonly seed: number;
  readonly replicas: number;
  readonly entries: number;
  readonly faults?: readonly FaultKind[];
  readonly break?: Break;
}

const USAGE = `npm run test:chaos -- --store ${STORES.join('|')} [--seconds 100] [--seed N] [--replicas 6] [--entries 300] [--faults ${FAULT_KINDS.join(',')}] [--break ${BREAKS.join('|')}]`;

/** @throws UsageError */
export function readArguments(given: readonly string[]): ChaosArguments {
  const names = ['store', 'seconds', 'seed', 'replicas', 'entries', 'faults', 'break'];
  const args = new Arguments(given, names, USAGE);
  const faults = args.text('faults');
  return {
    store: args.oneOf('store', STORES),
    seconds: args.whole('seconds', 100, 8),
    seed: args.whole('seed', Math.floor(Math.random() * 1_000_000), 0),
    replicas: args.whole('replicas', 6, 1),
    entries: args.whole('entries', 300, 1),
    ...(faults === undefined
      ? {}
      : { faults: faults.split(',').map((kind) => args.oneOf('faults', FAULT_KINDS, kind)) }),
    ...(args.text('break') === undefined ? {} : { break: args.oneOf('break', BREAKS) }),
  };
}
