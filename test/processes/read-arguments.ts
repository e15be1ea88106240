import { parseArgs } from 'node:util';

/** Says what is wrong and how to call it. */
export class UsageError extends Error {
  constructor(what: string, usage: string) {
    super(`${what}\n${usage}`);
  }
}

/** Options of a command, each with a value: `--name value`. */
export class Arguments {
  private readonly values: Readonly<Record<string, string | undefined>>;

  /** @throws UsageError for an option that is none of the names. */
  constructor(
    given: readonly string[],
    names: readonly string[],
    private readonly usage: string,
  ) {
    const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
    try {
      this.values = parseArgs({ args: [...given], options }).values;
    } catch (cause) {
      throw new UsageError((cause as Error).message, usage);
    }
  }

  text(name: string): string | undefined {
    return this.values[name];
  }

  /** @throws UsageError */
  whole(name: string, standard: number, least: number): number {
    const value = Number(this.values[name] ?? standard);
    if (!Number.isInteger(value) || value < least)
      throw new UsageError(`--${name} must be a whole number from ${least}.`, this.usage);
    return value;
  }

  /** @throws UsageError */
  oneOf<T extends string>(name: string, all: readonly T[], value = this.values[name]): T {
    if (!all.includes(value as T)) throw new UsageError(`--${name} must be ${all.join(' or ')}.`, this.usage);
    return value as T;
  }
}

/** The command that does the same again. */
export function commandOf(script: string, given: object): string {
  const options = Object.entries(given).map(([name, value]) => `--${name} ${value}`);
  return `npm run ${script} -- ${options.join(' ')}`;
}
