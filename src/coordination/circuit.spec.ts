import { describe, expect, it } from '@jest/globals';
import { Circuit, type Probe } from './circuit.js';
import { CoordinationError } from './coordination-error.js';
import { middle } from './fixtures/guarded.js';

const TIMEOUT_MS = 5_000;
const failed = new CoordinationError('COORDINATION_FAILED', { store: 'fake', operation: 'claim' }, 'down');
const timedOut = new CoordinationError('COORDINATION_TIMEOUT', { store: 'fake', operation: 'claim' }, 'no answer');

/** What can happen to a circuit: what, of which entry, when, and which probe it was. */
type Step =
  | readonly ['failed' | 'timedOut', string, number]
  | readonly ['answered']
  | readonly ['arrived' | 'probe', string, number]
  | readonly ['probeAnswered', number]
  | readonly ['probeFailed' | 'probeTimedOut', number, number];

function after(steps: readonly Step[]) {
  const circuit = new Circuit(TIMEOUT_MS, middle);
  const probes: Probe[] = [];
  const probe = (which: number) => probes[which] as Probe;
  for (const step of steps) {
    switch (step[0]) {
      case 'failed':
      case 'timedOut':
        circuit.failed(step[1], step[0] === 'failed' ? failed : timedOut, step[2]);
        break;
      case 'answered':
        circuit.answered();
        break;
      case 'arrived':
        circuit.arrived(step[1], step[2]);
        break;
      case 'probe':
        probes.push(circuit.probe(step[1], step[2]));
        break;
      case 'probeAnswered':
        circuit.probeAnswered(probe(step[1]));
        break;
      default:
        circuit.probeFailed(probe(step[1]), step[0] === 'probeFailed' ? failed : timedOut, step[2]);
    }
  }
  return { circuit, limits: probes.map(({ limitMs }) => limitMs) };
}

// Waits with chance in the middle: 38, 75, 150, 300, 600, 750, 750, … ms after failures; 750 ms between probes that hang.
const NEVER = Number.POSITIVE_INFINITY;
const CASES: readonly { rule: string; steps: readonly Step[]; nextProbe: number; limits?: readonly number[] }[] = [
  { rule: 'is closed at first', steps: [], nextProbe: NEVER },
  { rule: 'opens at a failure, and probes soon', steps: [['failed', 'a', 100]], nextProbe: 138 },
  { rule: 'opens at a time-out, and probes at once', steps: [['timedOut', 'a', 100]], nextProbe: 100 },
  { rule: 'closes at any answer', steps: [['failed', 'a', 0], ['answered']], nextProbe: NEVER },
  {
    rule: 'is not probed earlier or later because more calls fail',
    steps: [
      ['failed', 'a', 0],
      ['failed', 'b', 10],
      ['timedOut', 'c', 20],
    ],
    nextProbe: 38,
  },
  {
    rule: 'waits longer after each probe that the store refuses',
    steps: [
      ['failed', 'a', 0],
      ['probe', 'a', 38],
      ['probeFailed', 0, 40],
      ['probe', 'b', 115],
      ['probeFailed', 1, 120],
    ],
    nextProbe: 270,
    limits: [5_000, 5_000],
  },
  {
    rule: 'probes again within a second while a probe hangs',
    steps: [
      ['timedOut', 'a', 0],
      ['probe', 'a', 0],
    ],
    nextProbe: 750,
    limits: [5_000],
  },
  {
    rule: 'gives one probe on the wire the whole time limit, the others until the next one goes',
    steps: [
      ['timedOut', 'a', 0],
      ['probe', 'a', 0],
      ['probe', 'b', 750],
      ['probeTimedOut', 1, 1_500],
      ['probe', 'c', 1_500],
      ['probeTimedOut', 2, 2_250],
      ['probeTimedOut', 0, 5_000],
      ['probe', 'd', 5_000],
    ],
    nextProbe: 5_750,
    limits: [5_000, 750, 750, 5_000],
  },
  {
    rule: 'counts the time to the next probe from when the last one went, not from when it timed out',
    steps: [
      ['timedOut', 'a', 0],
      ['probe', 'a', 0],
      ['probe', 'b', 4_500],
      ['probeTimedOut', 0, 5_000],
    ],
    nextProbe: 5_250,
    limits: [5_000, 750],
  },
  {
    rule: 'closes at the answer of a probe, also of one that others have overtaken',
    steps: [
      ['timedOut', 'a', 0],
      ['probe', 'a', 0],
      ['probe', 'b', 750],
      ['probeAnswered', 0],
    ],
    nextProbe: NEVER,
    limits: [5_000, 750],
  },
  {
    rule: 'remembers the failures over the answer of a probe: a store that fails at whatever follows is asked less often',
    steps: [
      ['failed', 'a', 0],
      ['probe', 'a', 38],
      ['probeAnswered', 0],
      ['failed', 'a', 50],
    ],
    nextProbe: 125,
    limits: [5_000],
  },
  {
    rule: 'forgets the failures at the answer of an ordinary call',
    steps: [['failed', 'a', 0], ['probe', 'a', 38], ['probeAnswered', 0], ['answered'], ['failed', 'a', 50]],
    nextProbe: 88,
    limits: [5_000],
  },
  {
    rule: 'probes at once with another entry while one alone has failed',
    steps: [
      ['failed', 'a', 0],
      ['arrived', 'b', 5],
    ],
    nextProbe: 5,
  },
  {
    rule: 'does not do so for the entry that failed',
    steps: [
      ['failed', 'a', 0],
      ['arrived', 'a', 5],
    ],
    nextProbe: 38,
  },
  {
    rule: 'does not do so once a second entry has failed',
    steps: [
      ['failed', 'a', 0],
      ['failed', 'b', 1],
      ['arrived', 'c', 5],
    ],
    nextProbe: 38,
  },
  {
    rule: 'does so with one other entry, not with each that comes',
    steps: [
      ['failed', 'a', 0],
      ['arrived', 'b', 5],
      ['probe', 'b', 5],
      ['arrived', 'c', 6],
    ],
    nextProbe: 755,
    limits: [5_000],
  },
];

describe('the circuit', () => {
  it.each(CASES)('$rule', ({ steps, nextProbe, limits = [] }) => {
    const result = after(steps);
    expect(result.circuit.nextProbeAtMs).toBe(nextProbe);
    expect(result.circuit.isOpen).toBe(nextProbe !== NEVER);
    expect(result.limits).toEqual(limits);
  });

  it('tells the latest failure while it is open', () => {
    expect(after([['failed', 'a', 0]]).circuit.error).toBe(failed);
    const probed = after([
      ['failed', 'a', 0],
      ['probe', 'a', 38],
      ['probeTimedOut', 0, 5_038],
    ]);
    expect(probed.circuit.error).toBe(timedOut);
    expect(after([['failed', 'a', 0], ['answered']]).circuit.error).toBeUndefined();
  });

  it('is never unasked for more than a second, whatever chance draws', () => {
    for (const fraction of [0, 0.3, 0.999_999]) {
      const circuit = new Circuit(TIMEOUT_MS, { fraction: () => fraction, uuid: () => '' });
      circuit.failed('a', failed, 0);
      for (let atMs = circuit.nextProbeAtMs, n = 0; n < 50; n += 1) {
        const probe = circuit.probe('a', atMs);
        if (n % 3 === 0) circuit.probeFailed(probe, failed, atMs + 1);
        expect(circuit.nextProbeAtMs - atMs).toBeLessThanOrEqual(1_001);
        atMs = circuit.nextProbeAtMs;
      }
    }
  });
});
