/**
 * Sets of small numbers as bits. Sets of sixty (seconds, minutes) are two words of thirty: a word of thirty-one bits or fewer is
 * never a heap number, in any build of V8.
 */

/** The lowest member of a set that is not empty. */
export function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

/** The highest member of a set that is not empty. */
export function highestBit(bits: number): number {
  return 31 - Math.clz32(bits);
}

/** The smallest member at or above `from`, or -1. */
export function nextOfSixty(low: number, high: number, from: number): number {
  if (from < 30) {
    const rest = low & (-1 << from);
    if (rest !== 0) return lowestBit(rest);
    return high === 0 ? -1 : 30 + lowestBit(high);
  }
  const rest = from > 59 ? 0 : high & (-1 << (from - 30));
  return rest === 0 ? -1 : 30 + lowestBit(rest);
}

/** The largest member at or below `from`, or -1. */
export function previousOfSixty(low: number, high: number, from: number): number {
  if (from >= 30) {
    const rest = high & ((2 << (from - 30)) - 1);
    if (rest !== 0) return 30 + highestBit(rest);
    return low === 0 ? -1 : highestBit(low);
  }
  const rest = from < 0 ? 0 : low & ((2 << from) - 1);
  return rest === 0 ? -1 : highestBit(rest);
}

/** The members as numbers, ascending, for words of thirty. */
export function membersOf(low: number, high = 0): number[] {
  const members: number[] = [];
  for (let value = 0; value < 30; value++) if ((low >>> value) & 1) members.push(value);
  for (let value = 0; value < 30; value++) if ((high >>> value) & 1) members.push(30 + value);
  return members;
}
