import { type CronField, DAY_OF_MONTH, DAY_OF_WEEK } from './cron-field.js';
import type { Fail } from './cron-item.js';

const PLAIN = /^(\*|\?|[0-9]+|[A-Z]{3})(?:-([0-9]+|[A-Z]{3}))?(?:\/([0-9]+))?$/i;

/**
 * Lets through what has the strict shape of a plain item: `*`, `?`, a value, a range, each with a step or without, all within the
 * field's bounds. Everything else fails here, where its reason is known; what passes, cron-parser reads without a surprise.
 */
export function checkPlain(field: CronField, text: string, fail: Fail): void {
  const match = PLAIN.exec(text);
  if (match === null) fail({ reason: text === '' ? 'an item of the list is empty' : `"${text}" is not understood` });
  const [, start, end, step] = match as unknown as [string, string, string | undefined, string | undefined];
  const whole = start === '*' || start === '?';
  if (start === '?' && ((field !== DAY_OF_MONTH && field !== DAY_OF_WEEK) || end !== undefined || step !== undefined)) {
    fail({ reason: '"?" stands alone, in a day field', hint: 'Write "*" for every value.' });
  }
  if (whole && end !== undefined) fail({ reason: `"${text}" is not understood` });
  const from = whole ? field.min : readValue(field, start, fail);
  const to = end === undefined ? field.max : readValue(field, end, fail);
  if (from > to) {
    fail({
      reason: `the range ${text} runs backwards`,
      hint: `Write it as two: "${start}-${field === DAY_OF_WEEK ? 7 : field.max},${field.min}-${end}".`,
    });
  }
  if (step !== undefined) {
    const values = end === undefined ? field.size : to - from + 1;
    if (Number(step) === 0) fail({ reason: 'a step of 0 never moves on' });
    if (Number(step) > values) {
      fail({
        reason: `the step ${step} is above its range of ${values} values`,
        hint: 'It would name the first value alone. Each hour, day and so on begins anew: for other intervals use "@every".',
      });
    }
  }
}

/** A number, or a name, within the field's bounds. */
export function readValue(field: CronField, text: string, fail: Fail): number {
  const value = /^[0-9]/.test(text) ? Number(text) : field.names.get(text.toUpperCase());
  if (value === undefined) {
    fail({
      reason: `"${text}" is not understood`,
      ...(field.names.size > 0 && { hint: `Names are ${[...field.names.keys()].join(', ')}.` }),
    });
  }
  if (value < field.min || value > field.max) {
    fail({ reason: `${text} is outside ${field.min}-${field.max}` });
  }
  return value;
}
