import { parseArgs } from 'node:util';
import type { StoreName } from '../shop-config';

export interface DemoArguments {
  readonly seconds: number;
  readonly replicas: number;
  readonly store: StoreName;
  readonly json: boolean;
}

export const USAGE = `npm run demo -- [--seconds N] [--replicas N] [--store sqlite|none] [--json]

  --seconds N    how long the shop takes orders, 20 by default
  --replicas N   processes of the shop, 3 by default; the only one of a fleet of one is not killed
  --store NAME   what coordinates them: sqlite by default; none shows what happens without
  --json         the last line as one JSON object`;

const STORES: readonly StoreName[] = ['sqlite', 'none'];

/** @throws Error that says what is wrong with them */
export function readArguments(args: readonly string[]): DemoArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '20' },
      replicas: { type: 'string', default: '3' },
      store: { type: 'string', default: 'sqlite' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    seconds: wholeNumber('seconds', values.seconds, 3_600),
    replicas: wholeNumber('replicas', values.replicas, 20),
    store: storeName(values.store),
    json: values.json,
  };
}

function wholeNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  throw new Error(`--${name} is a whole number from 1 to ${most}, got "${text}".`);
}

function storeName(text: string): StoreName {
  const store = STORES.find((name) => name === text);
  if (store === undefined) throw new Error(`--store is ${STORES.join(' or ')}, got "${text}".`);
  return store;
}
