import { describe, expect, it } from '@jest/globals';
import type { Fire } from '../domain/fire.js';
import { currentFire, type FireContext, RunContext, runInFire } from './fire-context.js';

const fire = (entryKey: string): Fire => ({
  entryKey,
  fireKey: `${entryKey}@2026-01-01T00:00:00Z`,
  scheduledAt: new Date('2026-01-01T00:00:00Z'),
  origin: 'schedule',
});

describe('fire context', () => {
  it('says what a method is run for', () => {
    const { entryKey, fireKey, scheduledAt, origin, attempt, fencingToken, signal } = new RunContext(fire('a'));
    expect({ entryKey, fireKey, scheduledAt, origin, attempt, fencingToken }).toEqual({
      ...fire('a'),
      attempt: 1,
      fencingToken: null,
    });
    expect(signal.aborted).toBe(false);
  });

  it('has one signal, made when it is first asked for', () => {
    const context = new RunContext(fire('a'));
    expect(context.signal).toBe(context.signal);
    const reason = new Error('time');
    context.abort(reason);
    expect(context.signal).toMatchObject({ aborted: true, reason });
  });

  it('has an aborted signal also if it is first asked for after the abort', () => {
    const context = new RunContext(fire('a'));
    const reason = new Error('time');
    context.abort(reason);
    expect(context.signal).toMatchObject({ aborted: true, reason });
  });

  it('keeps the first reason', () => {
    const context = new RunContext(fire('a'));
    const first = new Error('first');
    context.abort(first);
    context.abort(new Error('second'));
    expect(context.signal.reason).toBe(first);
  });

  it('is what currentFire() answers inside, over every wait, and nothing outside', async () => {
    expect(currentFire()).toBeUndefined();
    const context = new RunContext(fire('a'));
    const seen: (FireContext | undefined)[] = [];
    await runInFire(context, async (given) => {
      seen.push(given, currentFire());
      await Promise.resolve();
      seen.push(currentFire());
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(currentFire());
    });
    expect(seen).toEqual([context, context, context, context]);
    expect(currentFire()).toBeUndefined();
  });

  it('nested: the inner fire inside, the outer one again after it, also if the inner one throws', async () => {
    const outer = new RunContext(fire('outer'));
    const inner = new RunContext(fire('inner'));
    const seen: (string | undefined)[] = [];
    await runInFire(outer, async () => {
      await runInFire(inner, async () => {
        await Promise.resolve();
        seen.push(currentFire()?.entryKey);
      });
      seen.push(currentFire()?.entryKey);
      expect(() =>
        runInFire(inner, () => {
          throw new Error('no');
        }),
      ).toThrow('no');
      seen.push(currentFire()?.entryKey);
    });
    expect(seen).toEqual(['inner', 'outer', 'outer']);
  });

  it('two fires that run at once do not see each other', async () => {
    const seen: string[] = [];
    const run = async ({ entryKey }: FireContext) => {
      for (let i = 0; i < 3; i++) {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(`${entryKey} sees ${currentFire()?.entryKey}`);
      }
    };
    await Promise.all(['a', 'b'].map((key) => runInFire(new RunContext(fire(key)), run as never)));
    expect(new Set(seen)).toEqual(new Set(['a sees a', 'b sees b']));
  });
});
