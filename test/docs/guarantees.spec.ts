import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

/** A promise is worth as much as the test that proves it: each one that docs/guarantees.md names is there, under that name. */
const PROMISES = 12;
const PROOF = /^- `(?<file>[^`]+)`: (?<name>.+)$/gm;

const text = readFileSync(join(process.cwd(), 'docs', 'guarantees.md'), 'utf8');
const promises = text.split(/^## (?=\d)/m).slice(1);
const proofs = [...text.matchAll(PROOF)].map(({ groups }) => ({ file: groups!.file!, name: groups!.name! }));

/** The name as a string of the file has it, whichever quotes it stands in. */
function isNamedIn(file: string, name: string): boolean {
  if (!existsSync(file)) return false;
  const source = readFileSync(file, 'utf8');
  return [`'${name}'`, `"${name}"`, `\`${name}\``].some((quoted) => source.includes(quoted));
}

describe('docs/guarantees.md', () => {
  test('has every promise, each with proofs', () => {
    expect(promises).toHaveLength(PROMISES);
    expect(promises.map((promise) => [...promise.matchAll(PROOF)].length).filter((count) => count === 0)).toEqual([]);
  });

  test.each(proofs)('$file: $name', ({ file, name }) => {
    expect(isNamedIn(join(process.cwd(), file), name)).toBe(true);
  });

  test('a test that is not there is found out', () => {
    expect(isNamedIn(join(process.cwd(), 'test', 'docs', 'guarantees.spec.ts'), `no such ${'test'}`)).toBe(false);
  });
});
