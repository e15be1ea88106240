import { describe, expect, it } from '@jest/globals';
import type { ElectionContext } from '../elector.js';
import { MemoryElection } from './memory-elector.js';

describe('memory election', () => {
  it('nobody leads until one is elected; then that one alone, until the next', () => {
    const election = new MemoryElection();
    const electors = ['a', 'b'].map((instanceId) => election.elector(instanceId));
    const leading = () => electors.map((elector) => elector.isLeader({} as ElectionContext));
    expect(leading()).toEqual([false, false]);
    election.elect('a');
    expect(leading()).toEqual([true, false]);
    election.elect('b');
    expect(leading()).toEqual([false, true]);
    expect(election.leader).toBe('b');
    election.elect(undefined);
    expect(leading()).toEqual([false, false]);
  });
});
