import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

/** An option that is not written down does not exist for users: docs/options.md has each that the types have, and no other. */
const source = readFileSync(join(process.cwd(), 'src', 'nest', 'options.ts'), 'utf8');
const [, ofModule = '', ofEntry = ''] = readFileSync(join(process.cwd(), 'docs', 'options.md'), 'utf8').split(/^## /m);

function membersOf(name: string): string[] {
  const body = new RegExp(`^export interface ${name}\\b[^{]*\\{(?<body>[\\s\\S]*?)^\\}`, 'm').exec(source)?.groups
    ?.body;
  return [...(body ?? '').matchAll(/^ {2}readonly (\w+)/gm)].map(([, member]) => member as string);
}

const rowsOf = (table: string) => [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, option]) => option as string).sort();
const unique = (names: readonly string[]) => [...new Set(names)].sort();

describe('docs/options.md', () => {
  test('has the options of forRoot', () => {
    const members = membersOf('DistributedCronModuleOptions');
    expect(members.length).toBeGreaterThan(10);
    expect(rowsOf(ofModule)).toEqual(unique(members));
  });

  test('has those of an entry', () => {
    const members = ['EntryPolicyOptions', 'DistributedCronEntryOptions', 'EntryConfiguration'].flatMap(membersOf);
    expect(members.length).toBeGreaterThan(10);
    expect(rowsOf(ofEntry)).toEqual(unique(members));
  });
});
