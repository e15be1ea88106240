import { type Duration, durationMs, formatDuration } from '../domain/duration.js';
import type { ConfigurationFault } from '../domain/errors.js';

/** Reads the members of one options object; every fault goes to one list, and a faulty member reads as its default. */
export class OptionReader {
  private readonly source: Readonly<Record<string, unknown>>;

  constructor(
    source: unknown,
    /** Where the object stands: `forRoot`, `forRoot.entries["report"]`, `Reports.daily, key "report"`. */
    private readonly place: string,
    known: readonly string[],
    private readonly faults: ConfigurationFault[],
    /** What stands between that and the name of an option. */
    private readonly joint = '.',
  ) {
    if (source !== undefined && !isRecord(source)) this.fault(undefined, 'OPTION_TYPE', 'an object', source);
    this.source = isRecord(source) ? source : {};
    for (const name of Object.keys(this.source)) if (!known.includes(name)) this.unknown(name, known);
  }

  duration<T extends number | null>(
    name: string,
    fallbackMs: T,
    atLeastMs = 0,
    atMostMs = Number.POSITIVE_INFINITY,
  ): number | T {
    const from = atLeastMs === 0 ? '' : ` of at least ${formatDuration(atLeastMs)}`;
    const to = atMostMs === Number.POSITIVE_INFINITY ? '' : ` and at most ${formatDuration(atMostMs)}`;
    const expected = `a duration${from}${to}, in milliseconds or as a text such as "30s"`;
    return this.read<number | T>(name, fallbackMs, expected, (value: Duration) => {
      const readMs = durationMs(value);
      return readMs !== undefined && readMs >= atLeastMs && readMs <= atMostMs ? readMs : undefined;
    });
  }

  oneOf<T extends string>(name: string, fallback: T, allowed: readonly T[]): T {
    if (!this.has(name)) return fallback;
    const expected = `one of ${allowed.map((value) => `"${value}"`).join(', ')}`;
    return this.read(name, fallback, expected, (value: T) => (allowed.includes(value) ? value : undefined));
  }

  boolean(name: string, fallback: boolean): boolean {
    return this.read(name, fallback, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined));
  }

  positiveInteger<T extends number | null>(name: string, fallback: T): number | T {
    return this.read<number | T>(name, fallback, 'a whole number of at least 1', (value: number) =>
      Number.isSafeInteger(value) && value >= 1 ? value : undefined,
    );
  }

  number(name: string, fallback: number, atLeast: number, atMost: number): number {
    const to = atMost === Number.MAX_VALUE ? '' : ` and at most ${atMost}`;
    return this.read(name, fallback, `a number of at least ${atLeast}${to}`, (value: number) =>
      typeof value === 'number' && value >= atLeast && value <= atMost ? value : undefined,
    );
  }

  text(name: string, fallback: string, expected: string, accept: (value: string) => boolean): string {
    return this.read(name, fallback, expected, (value: string) =>
      typeof value === 'string' && accept(value) ? value : undefined,
    );
  }

  /** An object of the application's own, checked by what it can do: never by its class. */
  object<T>(
    name: string,
    expected: string,
    accept: (value: Readonly<Record<string, unknown>>) => boolean,
  ): T | undefined {
    return this.read<T | undefined>(name, undefined, expected, (value: unknown) =>
      typeof value === 'object' && value !== null && accept(value as Record<string, unknown>)
        ? (value as T)
        : undefined,
    );
  }

  /** What no other reader here knows: `accept` says whether it is one. */
  value<T>(name: string, fallback: T, expected: string, accept: (value: unknown) => boolean): T {
    return this.read(name, fallback, expected, (value) => (accept(value) ? (value as T) : undefined));
  }

  /** A reader for the object that is given as an option. */
  within(name: string, known: readonly string[]): OptionReader {
    return new OptionReader(this.source[name], `${this.place}${this.joint}${name}`, known, this.faults);
  }

  record(name: string): Readonly<Record<string, unknown>> {
    return this.read<Readonly<Record<string, unknown>>>(name, {}, 'an object by entry key', (value: unknown) =>
      isRecord(value) ? value : undefined,
    );
  }

  has(name: string): boolean {
    return this.source[name] !== undefined && this.source[name] !== null;
  }

  raw(name: string): unknown {
    return this.source[name];
  }

  fault(name: string | undefined, code: string, expected: string, got: unknown, hint?: string): void {
    this.faults.push({
      code,
      subject: name === undefined ? this.place : `${this.place}${this.joint}${name}`,
      expected,
      got: shown(got),
      ...(hint === undefined ? {} : { hint }),
    });
  }

  private read<T>(name: string, fallback: T, expected: string, accept: (value: never) => T | undefined): T {
    const value = this.source[name];
    if (value === undefined || value === null) return fallback;
    const accepted = accept(value as never);
    if (accepted !== undefined) return accepted;
    this.fault(name, 'OPTION_VALUE', expected, value);
    return fallback;
  }

  private unknown(name: string, known: readonly string[]): void {
    const near = nearest(name, known);
    this.fault(
      name,
      'OPTION_UNKNOWN',
      'a known option',
      name,
      near === undefined ? `Known: ${[...known].sort().join(', ')}.` : `Did you mean "${near}"?`,
    );
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as an error message shows it: short, and never with a getter called. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return value.length > 80 ? `"${value.slice(0, 80)}…"` : `"${value}"`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

/** The known word that at most two edits lead to. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current[column] = Math.min(previous[column]! + 1, current[column - 1]! + 1, substitution);
    }
    previous = current;
  }
  return previous[b.length]!;
}
