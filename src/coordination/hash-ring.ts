import { murmur3 } from './murmur3.js';

/** Points of each member on the ring. More make the shares more even and a change of members slower: `docs/decisions/0007-own-hash-ring.md` has the figures. */
export const POINTS_PER_MEMBER = 1_024;

/** Points and the place of their member are sorted as one number: 32 bits and 20. */
const PLACES = 2 ** 20;

/**
 * Which member of a list is a key's home. A pure function of the set of names and the key, the same on every replica and in every program that follows these
 * lines: a ring of 2^32 places; a member's points are `murmur3(name, seed)` for the seeds 1 to 1,024, a key's place is `murmur3(key, 0)`; its home is
 * the member of the first point at or after that place, past the end of the first of all. Of two points on one place the name that sorts first has it.
 *
 * A member that goes takes only its own keys along, and one that comes takes keys to itself alone.
 */
export class HashRing {
  /** Each once, sorted by code units. */
  readonly members: readonly string[];
  private readonly points: Uint32Array;
  private readonly owners: Uint32Array;

  /** The order of the list does not matter, nor does a name that stands in it twice. */
  constructor(members: Iterable<string>) {
    this.members = Object.freeze([...new Set(members)].sort());
    const sorted = new Float64Array(this.members.length * POINTS_PER_MEMBER);
    let filled = 0;
    this.members.forEach((name, place) => {
      for (let seed = 1; seed <= POINTS_PER_MEMBER; seed++) sorted[filled++] = murmur3(name, seed) * PLACES + place;
    });
    sorted.sort();
    this.points = new Uint32Array(sorted.length);
    this.owners = new Uint32Array(sorted.length);
    // Not `Uint32Array.from`, whose mapping function costs several times what the sort does.
    for (let index = 0; index < sorted.length; index++) {
      const point = Math.floor(sorted[index]! / PLACES);
      this.points[index] = point;
      this.owners[index] = sorted[index]! - point * PLACES;
    }
  }

  /** `undefined` if there are no members. */
  home(key: string): string | undefined {
    const { points, members } = this;
    if (members.length === 0) return undefined;
    const place = murmur3(key, 0);
    let from = 0;
    let to = points.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (points[middle]! < place) from = middle + 1;
      else to = middle;
    }
    return members[this.owners[from === points.length ? 0 : from]!];
  }
}
