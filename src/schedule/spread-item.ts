import type { CronField } from './cron-field.js';
import { type Fail, type Item, itemOf } from './cron-item.js';
import { readValue } from './cron-shape.js';
import { spreadKey } from './key-spread.js';

/** `H`, `H(a-b)`, each with a step or without. Never kept: it depends on the entry key. */
export function spreadItem(field: CronField, text: string, entryKey: string | undefined, fail: Fail): Item {
  const match = /^H(?:\(([^()-]+)-([^()-]+)\))?(?:\/([0-9]+))?$/i.exec(text);
  if (match === null) return fail({ reason: `"${text}" is not understood`, hint: 'Write "H", "H(a-b)" or "H/n".' });
  if (entryKey === undefined) {
    return fail({ reason: '"H" needs an entry key to be spread by', hint: 'Give the option entryKey.' });
  }
  const [, start, end, step] = match;
  const from = start === undefined ? field.spread[0] : readValue(field, start, fail);
  const to = end === undefined ? field.spread[1] : readValue(field, end, fail);
  if (from > to) return fail({ reason: `the range ${start}-${end} runs backwards` });
  const count = to - from + 1;
  const stride = step === undefined ? count : Number(step);
  if (stride === 0) return fail({ reason: 'a step of 0 never moves on' });
  if (stride > count) return fail({ reason: `the step ${stride} is above its range of ${count} values` });
  const values: number[] = [];
  for (let value = from + spreadKey(entryKey, field.name, stride); value <= to; value += stride) values.push(value);
  return { ...itemOf(values), spread: true };
}
