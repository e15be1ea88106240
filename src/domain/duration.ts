/** A length of time: milliseconds as a number, or a text such as `'250ms'`, `'90s'`, `'5m'`, `'2h'`, `'1d'`, `'1h30m'`. */
export type Duration = number | string;

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|[smhd])/g;

/** The duration in milliseconds, or `undefined` if the value is none: negative, not finite, without a unit, or below a millisecond. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined;
  if (typeof value !== 'string' || !WHOLE.test(value)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of value.matchAll(PART)) totalMs += Number(amount) * (UNIT_MS[unit!] as number);
  // `1.005s` is 1004.9999999999999 in binary.
  const wholeMs = Math.round(totalMs);
  return Number.isFinite(totalMs) && Math.abs(totalMs - wholeMs) < 0.0005 ? wholeMs : undefined;
}

/** A duration as people write it: `90s` as `1m30s`, `250` as `250ms`. */
export function formatDuration(totalMs: number): string {
  if (totalMs < 1_000) return `${totalMs}ms`;
  let rest = totalMs;
  let text = '';
  for (const unit of ['d', 'h', 'm', 's', 'ms']) {
    const amount = Math.floor(rest / UNIT_MS[unit]!);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * UNIT_MS[unit]!;
  }
  return text;
}
