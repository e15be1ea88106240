import { describe, expect, it, jest } from '@jest/globals';
import { AlarmHeap } from './alarm-heap.js';

function alarmsAt(startMs: number) {
  let nowMs = startMs;
  const onChange = jest.fn();
  const alarms = new AlarmHeap(() => nowMs, onChange);
  return {
    alarms,
    onChange,
    moveTo: (ms: number) => {
      nowMs = ms;
    },
  };
}

describe('alarm heap', () => {
  it('rings what is due, earliest first, each once', () => {
    const { alarms, moveTo } = alarmsAt(100);
    const rung: string[] = [];
    alarms.set(30, () => rung.push('late'));
    alarms.set(10, () => rung.push('early'));
    alarms.set(50, () => rung.push('not yet'));
    alarms.ring();
    expect(rung).toEqual([]);
    moveTo(130);
    alarms.ring();
    alarms.ring();
    expect(rung).toEqual(['early', 'late']);
    expect(alarms.nextAtMs).toBe(150);
  });

  it('does not ring what was canceled, also if another alarm of the same moment cancels it', () => {
    const { alarms, moveTo } = alarmsAt(0);
    const rung: string[] = [];
    let second: object;
    alarms.set(10, () => {
      rung.push('first');
      alarms.cancel(second);
    });
    second = alarms.set(10, () => rung.push('second'));
    moveTo(10);
    alarms.ring();
    expect(rung).toEqual(['first']);
    expect(alarms.nextAtMs).toBeUndefined();
  });

  it('says when an alarm became the next one, and when none is left', () => {
    const { alarms, onChange } = alarmsAt(0);
    const later = alarms.set(20, () => undefined);
    const sooner = alarms.set(10, () => undefined);
    expect(onChange).toHaveBeenCalledTimes(2);
    alarms.set(30, () => undefined);
    alarms.cancel(sooner);
    expect(onChange).toHaveBeenCalledTimes(2);
    alarms.cancel(later);
    alarms.ring();
    expect(onChange).toHaveBeenCalledTimes(2);
  });

  it('says that none is left when the last one was canceled, so that no timer stays set for it', () => {
    const { alarms, onChange } = alarmsAt(0);
    alarms.cancel(alarms.set(20, () => undefined));
    expect(onChange).toHaveBeenCalledTimes(2);
    expect(alarms.nextAtMs).toBeUndefined();
  });
});
