import { describe, expect, it } from '@jest/globals';
import { CoordinationError } from '../coordination-error.js';
import { asStoreBusy, integerArray, poolFault, rowsOf, sqlStateOf, textArray, textFault } from './postgres-client.js';

const query = async () => ({ rows: [] });

describe('a pool', () => {
  it('is anything with query(text, values)', () => {
    expect(poolFault({ query })).toBeUndefined();
    expect(poolFault({ query, connect() {}, end() {}, totalCount: 0 })).toBeUndefined();
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a connection string', 'postgres://localhost/shop'],
    ['an object without query', {}],
    ["a pool's session, which is given back", { query, connect() {}, release() {} }],
    ["TypeORM's query runner, which is given back", { query, startTransaction() {}, release() {} }],
    ["pg's client before it is connected", { query, connect() {}, processID: null }],
    ["pg's client", { query, connect() {}, processID: 4711 }],
  ])('is not %s', (_name, given) => {
    expect(poolFault(given)).toMatch(/^a pool/);
  });

  it('answers an object with rows, or the rows', async () => {
    await expect(rowsOf({ query: async () => ({ rows: [1] }) }, '', [])).resolves.toEqual([1]);
    await expect(rowsOf({ query: async () => [1] }, '', [])).resolves.toEqual([1]);
  });

  it.each([undefined, null, 7, {}, { rows: 1 }])('that answers %p answered nothing', async (answer) => {
    await expect(rowsOf({ query: async () => answer as never }, '', [])).rejects.toThrow('neither rows');
  });
});

describe('an array as one text', () => {
  it.each([
    [[], '{}'],
    [['a', 'b c'], '{"a","b c"}'],
    [['', 'NULL', '{}', ','], '{"","NULL","{}",","}'],
    [['"', '\\', '\\"'], '{"\\"","\\\\","\\\\\\""}'],
  ])('of %j is %s', (values, text) => {
    expect(textArray(values)).toBe(text);
  });

  it('of whole numbers has no exponent and no rounding', () => {
    expect(integerArray([0, -1, 8.64e15, Number.MAX_SAFE_INTEGER])).toBe('{0,-1,8640000000000000,9007199254740991}');
  });
});

describe('a text', () => {
  it('with NUL or a lone surrogate cannot be kept', () => {
    expect(['report', '😀', 'e\u0301', ''].map(textFault)).toEqual([undefined, undefined, undefined, undefined]);
    expect(textFault('a\0')).toBe('no NUL');
    expect(textFault('\ud83d')).toMatch('well-formed');
  });
});

describe('the SQLSTATE of an error', () => {
  const failed = (properties: object) => Object.assign(new Error('failed'), properties);

  it.each([
    ['pg and Kysely', failed({ code: '40001' })],
    ['TypeORM', failed({ driverError: failed({ code: '40001' }) })],
    ['Drizzle', failed({ cause: failed({ code: '40001' }) })],
    ['Prisma, raw query', failed({ code: 'P2010', meta: { code: '40001', message: '…' } })],
    [
      'Prisma, driver adapter',
      failed({
        code: 'P2010',
        meta: { driverAdapterError: failed({ cause: { originalCode: '40001', kind: 'postgres' } }) },
      }),
    ],
    ['Prisma, write conflict', failed({ code: 'P2034' })],
  ])('is found where %s puts it', (_client, error) => {
    expect(sqlStateOf(error)).toBe('40001');
  });

  it('is none where there is none, also in a ring of causes', () => {
    const ring = failed({});
    Object.assign(ring, { cause: ring });
    for (const error of [ring, failed({ code: 'ECONNREFUSED' }), failed({ code: 7 }), 'text', null, undefined]) {
      expect(sqlStateOf(error)).toBeUndefined();
    }
  });

  it.each(['40001', '40P01', '55P03'])('%s asks to be asked again', (code) => {
    const cause = failed({ code });
    const busy = asStoreBusy(cause, 'claim') as CoordinationError;
    expect(busy).toBeInstanceOf(CoordinationError);
    expect([busy.code, busy.store, busy.operation, busy.cause]).toEqual(['STORE_BUSY', 'postgres', 'claim', cause]);
  });

  it.each(['23505', '42P01', '57014', 'ECONNRESET'])('%s does not', (code) => {
    const cause = failed({ code });
    expect(asStoreBusy(cause, 'claim')).toBe(cause);
  });
});
