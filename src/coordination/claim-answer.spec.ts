import { describe, expect, it } from '@jest/globals';
import { isGranted, readAnswer, readBatch, readBatchAnswer } from './claim-answer.js';
import { CoordinationError } from './coordination-error.js';
import { word } from './fixtures/guarded.js';

const grant = { granted: true, overlapToken: 7 } as const;
const busy = new CoordinationError('STORE_BUSY', { store: 'fake', operation: 'claim' }, 'locked');

/** What no claimer may answer, whatever was asked. */
const ODD: readonly unknown[] = [
  ...[undefined, null, 1, 0, 'OK', 'true', 'false', '', 'Paused', 'granted', {}, [], [true], () => true],
  ...[{ granted: true }, { granted: 'true', overlapToken: 1 }, { granted: false, overlapToken: 1 }],
  ...[{ overlapToken: 1 }, { granted: true, overlapToken: '1' }, { granted: true, overlapToken: 1.5 }],
  ...[{ granted: true, overlapToken: Number.NaN }, { granted: true, overlapToken: null }, new Map([['granted', true]])],
];

describe('the answer to one claim of a batch', () => {
  it.each([
    ['true', true, 'granted'],
    ['false', false, 'refused'],
    ['superseded', 'superseded', 'superseded'],
    ['paused', 'paused', 'paused'],
    ['an error', busy, 'STORE_BUSY'],
    ['an error of any kind', new Error('down'), 'COORDINATION_FAILED'],
  ])('%s is what it says, where nothing is held', (_, answer, expected) => {
    expect(word(readBatchAnswer(answer, 'fake'))).toBe(expected);
  });

  it.each([
    ['a grant with a token', grant, 'granted'],
    ['overlap', 'overlap', 'overlap'],
    ['false', false, 'refused'],
    ['superseded', 'superseded', 'superseded'],
    ['paused', 'paused', 'paused'],
    ['an error', busy, 'STORE_BUSY'],
  ])('%s is what it says, where the overlap lease was asked for', (_, answer, expected) => {
    expect(word(readBatchAnswer(answer, 'fake', true))).toBe(expected);
  });

  it('a grant tells the token of its lease', () => {
    expect(readBatchAnswer(grant, 'fake', true)).toEqual({ kind: 'granted', overlapToken: 7 });
    expect(readBatchAnswer(true, 'fake')).toEqual({ kind: 'granted' });
  });

  it('true is no grant where the overlap lease was asked for: a run that cannot renew its lease does not start', () => {
    expect(word(readBatchAnswer(true, 'fake', true))).toBe('COORDINATION_ANSWER');
  });

  it('overlap and a grant with a token are errors where no lease was asked for', () => {
    for (const answer of ['overlap', grant]) expect(word(readBatchAnswer(answer, 'fake'))).toBe('COORDINATION_ANSWER');
  });

  it.each(ODD.map((answer) => [answer]))('anything else runs nothing: %p', (answer) => {
    for (const asksOverlap of [false, true]) {
      const outcome = readBatchAnswer(answer, 'fake', asksOverlap);
      expect(outcome).toMatchObject({ kind: 'error', error: { code: 'COORDINATION_ANSWER', store: 'fake' } });
    }
  });
});

describe('the answers to a batch', () => {
  const claims = [
    { request: {} },
    { request: { holds: { overlapTtlMs: 1 } } },
    { request: { holds: { recoveryTtlMs: 1 } } },
  ];

  it('are read by what each claim asked for', () => {
    expect(readBatch([true, grant, true], claims, 'fake').map(word)).toEqual(['granted', 'granted', 'granted']);
    expect(readBatch([grant, true, grant], claims, 'fake').map(word)).toEqual(new Array(3).fill('COORDINATION_ANSWER'));
    expect(readBatch(['paused', 'overlap', 'superseded'], claims, 'fake').map(word)).toEqual([
      'paused',
      'overlap',
      'superseded',
    ]);
  });

  it.each([[[true]], [[true, true, true, true]], [undefined], [{ 0: true, length: 3 }], ['yes']])(
    'of another shape tell nothing of any: %p',
    (answers) => {
      expect(readBatch(answers, claims, 'fake').map(word)).toEqual(new Array(3).fill('COORDINATION_ANSWER'));
    },
  );

  it('with holes are errors where the holes are', () => {
    const answers = new Array(3);
    answers[2] = true;
    expect(readBatch(answers, claims, 'fake').map(word)).toEqual([
      'COORDINATION_ANSWER',
      'COORDINATION_ANSWER',
      'granted',
    ]);
  });
});

describe('the answer of claim', () => {
  it('has two words: true and false', () => {
    expect([true, false].map((answer) => word(readAnswer(answer, 'fake')))).toEqual(['granted', 'refused']);
    for (const answer of ['paused', 'overlap', 'superseded', grant, busy, ...ODD])
      expect(word(readAnswer(answer, 'fake'))).toBe('COORDINATION_ANSWER');
  });

  it('is true, of a store of ours, where its batch grants it', () => {
    expect([true, grant].map(isGranted)).toEqual([true, true]);
    expect(
      [false, 'superseded', 'paused', 'overlap', busy, undefined].map((answer) => isGranted(answer as never)),
    ).toEqual(new Array(6).fill(false));
  });
});
