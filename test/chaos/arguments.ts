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

const USAGE = `npm run test:chaos -- --store ${STORES.join('|')} [--seconds 100] [--seed N] [--replicas 6] [--entries 300] [--faults ${FAULT_KINDS.join(',')}] [--break ${BREAKS.join('|')}]`;

/** Says what is wrong and how to call it. */
export class UsageError extends Error {
  constructor(what: string) {
    super(`${what}\n${USAGE}`);
  }
}

/** @throws UsageError */
export function readArguments(given: readonly string[]): ChaosArguments {
  const values = parse(given);
  const whole = (name: string, standard: number, least: number) => {
    const value = Number(values[name] ?? standard);
    if (!Number.isInteger(value) || value < least)
      throw new UsageError(`--${name} must be a whole number from ${least}.`);
    return value;
  };
  const oneOf = <T extends string>(name: string, value: string | undefined, all: readonly T[]) => {
    if (!all.includes(value as T)) throw new UsageError(`--${name} must be ${all.join(' or ')}.`);
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

function parse(given: readonly string[]): Record<string, string | undefined> {
  const names = ['store', 'seconds', 'seed', 'replicas', 'entries', 'faults', 'break'];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({ args: [...given], options }).values;
  } catch (cause) {
    throw new UsageError((cause as Error).message);
  }
}

/** The command that runs the same plan again. */
export function commandFor(given: ChaosArguments): string {
  const options = Object.entries(given).map(([name, value]) => `--${name} ${value}`);
  return `npm run test:chaos -- ${options.join(' ')}`;
}
