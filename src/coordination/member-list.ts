import { DistributedCronError } from '../domain/errors.js';

/** What was given as the list of members is no list of names. */
export class MemberListError extends DistributedCronError {
  readonly code = 'MEMBER_LIST_INVALID';

  constructor(got: string) {
    super(`A member list is an array of names, each a text of at least one character; got ${got}.`);
  }
}

/** Sorted, each name once. @throws MemberListError */
export function memberList(given: unknown): readonly string[] {
  if (!Array.isArray(given)) throw new MemberListError(given === null ? 'null' : `a value of type ${typeof given}`);
  const bad = given.findIndex((name) => typeof name !== 'string' || name === '');
  if (bad !== -1)
    throw new MemberListError(given[bad] === '' ? 'an empty name' : `a name of type ${typeof given[bad]}`);
  return Object.freeze([...new Set(given as string[])].sort());
}

export function isSameList(a: readonly string[] | undefined, b: readonly string[]): boolean {
  return a?.length === b.length && a.every((name, index) => name === b[index]);
}
