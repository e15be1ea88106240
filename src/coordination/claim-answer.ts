import type { ClaimAnswer } from './claimer.js';
import type { ClaimOutcome, ClaimRequest } from './claim-request.js';
import { CoordinationError, isError, toCoordinationError } from './coordination-error.js';

const GRANTED: ClaimOutcome = Object.freeze({ kind: 'granted' });
const ALREADY_CLAIMED: ClaimOutcome = Object.freeze({ kind: 'refused', superseded: false });
const SUPERSEDED: ClaimOutcome = Object.freeze({ kind: 'refused', superseded: true });
const PAUSED: ClaimOutcome = Object.freeze({ kind: 'paused' });
const OVERLAP: ClaimOutcome = Object.freeze({ kind: 'overlap' });

/** What a store's own `claim` makes of its answer in a batch: it has no word for superseded, paused and overlap, which all say that this pass may not run. */
export function isGranted(answer: ClaimAnswer | undefined): boolean {
  return answer === true || (typeof answer === 'object' && 'granted' in answer && answer.granted === true);
}

/** Reads what `claim` answered. Only the literal `true` grants, only the literal `false` refuses. */
export function readAnswer(answer: unknown, store: string): ClaimOutcome {
  if (answer === true) return GRANTED;
  if (answer === false) return ALREADY_CLAIMED;
  return { kind: 'error', error: unusable(store, 'true or false', answer) };
}

/**
 * Reads the answer to one claim of a batch, which has more words: `'superseded'`, `'paused'`, and an error for this claim alone; for one that asked for the overlap lease, also
 * `'overlap'` and a grant with the lease's token, without which it is not granted.
 */
export function readBatchAnswer(answer: unknown, store: string, asksOverlap = false): ClaimOutcome {
  if (answer === 'superseded') return SUPERSEDED;
  if (answer === 'paused') return PAUSED;
  if (isError(answer)) return { kind: 'error', error: toCoordinationError(answer, { store, operation: 'claim' }) };
  if (!asksOverlap || answer === false) return readAnswer(answer, store);
  if (answer === 'overlap') return OVERLAP;
  const { granted, overlapToken } = Object(answer) as { granted?: unknown; overlapToken?: unknown };
  if (granted === true && Number.isSafeInteger(overlapToken))
    return { kind: 'granted', overlapToken: overlapToken as number };
  return {
    kind: 'error',
    error: unusable(store, "a grant with the overlap lease's token, 'overlap' or false", answer),
  };
}

/** Reads what `claimMany` answered to these claims. An answer of another shape tells nothing about any of them. */
export function readBatch(
  answers: unknown,
  claims: readonly { readonly request: Pick<ClaimRequest, 'holds'> }[],
  store: string,
): ClaimOutcome[] {
  const count = claims.length;
  if (Array.isArray(answers) && answers.length === count) {
    // Array.from visits holes too; map would leave them without an outcome.
    return Array.from(answers, (answer, i) =>
      readBatchAnswer(answer, store, claims[i]?.request.holds?.overlapTtlMs !== undefined),
    );
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
