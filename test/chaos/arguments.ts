import { parseArgs } from 'node:util';
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

export const USAGE = `npm run test:chaos -- --store ${STORES.join('|')} [--seconds 100] [--seed N] [--replicas 6] [--entries 300] [--faults ${FAULT_KINDS.join(',')}] [--break ${BREAKS.join('|')}]`;

/** @throws Error that says what is wrong and how to call it */
export function readArguments(given: readonly string[]): ChaosArguments {
  const { values } = parseArgs({
    args: [...given],
    options: Object.fromEntries(
      ['store', 'seconds', 'seed', 'replicas', 'entries', 'faults', 'break'].map((name) => [name, { type: 'string' }]),
    ) as Record<string, { type: 'string' }>,
  });
  const whole = (name: string, standard: number, least: number) => {
    const value = Number(values[name] ?? standard);
    if (!Number.isInteger(value) || value < least)
      throw new Error(`--${name} must be a whole number from ${least}.\n${USAGE}`);
    return value;
  };
  const oneOf = <T extends string>(name: string, value: string | undefined, all: readonly T[]) => {
    if (!all.includes(value as T)) throw new Error(`--${name} must be ${all.join(' or ')}.\n${USAGE}`);
    return value as T;
  };
  return {
    store: oneOf('store', values.store, STORES),
    seconds: whole('seconds', 100, 8),
    seed: whole('seed', Math.floor(Math.random() * 1_000_000), 0),
    replicas: whole('replicas', 6, 1),
    entries: whole('entries', 300, 1),
    ...(values.faults === undefined
      ? {}
      : { faults: values.faults.split(',').map((kind) => oneOf('faults', kind, FAULT_KINDS)) }),
    ...(values.break === undefined ? {} : { break: oneOf('break', values.break, BREAKS) }),
  };
}

/** The command that runs the same plan again. */
export function commandFor(given: ChaosArguments): string {
  const options = Object.entries(given).map(([name, value]) => `--${name} ${value}`);
  return `npm run test:chaos -- ${options.join(' ')}`;
}
