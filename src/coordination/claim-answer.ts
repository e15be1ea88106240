import type { ClaimOutcome } from './claim-request.js';
import { CoordinationError, isError, toCoordinationError } from './coordination-error.js';

const GRANTED: ClaimOutcome = Object.freeze({ kind: 'granted' });
const ALREADY_CLAIMED: ClaimOutcome = Object.freeze({ kind: 'refused', superseded: false });
const SUPERSEDED: ClaimOutcome = Object.freeze({ kind: 'refused', superseded: true });

/** Reads what `claim` answered. Only the literal `true` grants, only the literal `false` refuses. */
export function readAnswer(answer: unknown, store: string): ClaimOutcome {
  if (answer === true) return GRANTED;
  if (answer === false) return ALREADY_CLAIMED;
  return { kind: 'error', error: unusable(store, 'true or false', answer) };
}

/** Reads the answer to one claim of a batch, which has two words more: `'superseded'`, and an error for this claim alone. */
export function readBatchAnswer(answer: unknown, store: string): ClaimOutcome {
  if (answer === 'superseded') return SUPERSEDED;
  if (isError(answer)) return { kind: 'error', error: toCoordinationError(answer, { store, operation: 'claim' }) };
  return readAnswer(answer, store);
}

/** Reads what `claimMany` answered to `count` claims. An answer of another shape tells nothing about any of them. */
export function readBatch(answers: unknown, count: number, store: string): ClaimOutcome[] {
  if (Array.isArray(answers) && answers.length === count) {
    // Array.from visits holes too; map would leave them without an outcome.
    return Array.from(answers, (answer) => readBatchAnswer(answer, store));
  }
  const got = Array.isArray(answers) ? `${answers.length} answers` : kindOf(answers);
  const error = new CoordinationError(
    'COORDINATION_ANSWER',
    { store, operation: 'claim' },
    `claimMany answered ${got}, expected an array of ${count}.`,
  );
  return Array.from({ length: count }, () => ({ kind: 'error', error }));
}

function unusable(store: string, expected: string, answer: unknown): CoordinationError {
  return new CoordinationError(
    'COORDINATION_ANSWER',
    { store, operation: 'claim' },
    `answered ${kindOf(answer)}, expected ${expected}. Only an explicit true runs the method.`,
  );
}

/** What came instead, without its content where it could be long, secret or hostile. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 20));
  return `a value of type ${typeof value}`;
}
