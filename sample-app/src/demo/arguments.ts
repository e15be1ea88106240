import { parseArgs } from 'node:util';
import { type StoreName, storeName } from '../shop-config';

export interface DemoArguments {
  readonly seconds: number;
  readonly replicas: number;
  readonly store: StoreName;
  readonly json: boolean;
}

export const USAGE = `npm run demo -- [--seconds N] [--replicas N] [--store NAME] [--json]

  --seconds N    how long the shop takes orders, 20 by default
  --replicas N   processes of the shop, 3 by default; the only one of a fleet of one is not killed
  --store NAME   what coordinates them: sqlite by default; redis or postgres, on REDIS_URL or POSTGRES_URL if that is set, else on a
                 server that is started for the demo; none shows what happens without
  --json         the last line as one JSON object`;

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
