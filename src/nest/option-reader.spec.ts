import { describe, expect, it } from '@jest/globals';
import type { ConfigurationFault } from '../domain/errors.js';
import { nearest, OptionReader, shown } from './option-reader.js';

function reader(source: unknown, known = ['size', 'mode']) {
  const faults: ConfigurationFault[] = [];
  return { read: new OptionReader(source, 'forRoot', known, faults), faults };
}

describe('an options object', () => {
  it.each([[null], [[]], ['text'], [5], [true]])('is not %p', (source) => {
    expect(reader(source).faults).toMatchObject([{ code: 'OPTION_TYPE', subject: 'forRoot', expected: 'an object' }]);
  });

  it.each([[undefined], [{}], [Object.create(null)]])('may be %p', (source) => {
    expect(reader(source).faults).toEqual([]);
  });

  it('has known options alone; a near name is asked about, else all are named', () => {
    const { faults } = reader({ sise: 1, colour: 2 });
    expect(faults).toEqual([
      {
        code: 'OPTION_UNKNOWN',
        subject: 'forRoot.sise',
        expected: 'a known option',
        got: '"sise"',
        hint: 'Did you mean "size"?',
      },
      {
        code: 'OPTION_UNKNOWN',
        subject: 'forRoot.colour',
        expected: 'a known option',
        got: '"colour"',
        hint: 'Known: mode, size.',
      },
    ]);
  });
});

describe('a faulty value', () => {
  it('reads as the default and leaves one fault, named by its place', () => {
    const faults: ConfigurationFault[] = [];
    const read = new OptionReader({ size: 'big' }, 'Reports.daily, key "report"', ['size'], faults, ', option ');
    expect(read.duration('size', 7)).toBe(7);
    expect(faults).toMatchObject([
      { code: 'OPTION_VALUE', subject: 'Reports.daily, key "report", option size', got: '"big"' },
    ]);
  });
});

describe.each<[string, (read: OptionReader) => unknown, unknown[], unknown[]]>([
  [
    'duration',
    (read) => read.duration('size', 7),
    [0, 1.5, '90s', '1h30m'],
    [-1, Number.NaN, '90', 'soon', true, {}, ''],
  ],
  ['duration of at least 1 ms', (read) => read.duration('size', 7, 1), [1, '1ms'], [0, '0s']],
  ['duration with a limit', (read) => read.duration('size', 7, 1, 1_000), [1_000, '1s'], [1_001, '2s']],
  ['boolean', (read) => read.boolean('size', true), [true, false], ['true', 0, 1]],
  [
    'positive integer',
    (read) => read.positiveInteger('size', null),
    [1, 50],
    [0, -1, 1.5, '1', Number.POSITIVE_INFINITY],
  ],
  ['word', (read) => read.oneOf('size', 'small', ['small', 'large']), ['small', 'large'], ['Large', 'toString', 0, '']],
  ['record', (read) => read.record('size'), [{}, { a: 1 }], [[], 'text', 1]],
  [
    'object',
    (read) => read.object('size', 'it', ({ run }) => typeof run === 'function'),
    [{ run: () => 1 }],
    [{}, 'text', () => 1],
  ],
])('a %s', (_, ask, accepted, refusedValues) => {
  it.each(accepted.map((value) => [value]))('may be %p', (value) => {
    const { read, faults } = reader({ size: value });
    ask(read);
    expect(faults).toEqual([]);
  });

  it.each(refusedValues.map((value) => [value]))('is not %p', (value) => {
    const { read, faults } = reader({ size: value });
    const missing = reader({});
    expect(ask(read)).toEqual(ask(missing.read));
    expect(faults).toHaveLength(1);
  });

  it.each([[undefined], [null]])('that is %p is not given', (value) => {
    const { read, faults } = reader({ size: value });
    ask(read);
    expect(faults).toEqual([]);
    expect(read.has('size')).toBe(false);
  });
});

describe('the nearest known word', () => {
  it.each([
    ['jiter', 'jitter'],
    ['Jitter', 'jitter'],
    ['tz', undefined],
    ['timezone', 'timeZone'],
    ['', undefined],
  ])('to "%s" is %p', (word, expected) => {
    expect(nearest(word, ['timeZone', 'jitter', 'timeout'])).toBe(expected);
  });
});

describe('a value in a message', () => {
  it('is short, and no getter is called for it', () => {
    const hostile = {
      get toString(): never {
        throw new Error('called');
      },
    };
    expect([
      shown('x'.repeat(200)).length,
      shown(hostile),
      shown([1]),
      shown(() => 1),
      shown(Symbol('s')),
      shown(-0),
    ]).toEqual([83, 'an object', 'an array', 'a function', 'Symbol(s)', '0']);
  });
});
