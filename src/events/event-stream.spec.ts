import { describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom, map, Subject, Subscriber, share, take, tap, toArray } from 'rxjs';
import type { CronEvent } from './cron-event.js';
import type { EntryPausedEvent, EntryRemovedEvent } from './entry-event.js';
import type { FireSkippedEvent } from './fire-event.js';
import { EventStream, ofEvent } from './event-stream.js';

const removed = (entryKey: string): EntryRemovedEvent => ({
  type: 'entry.removed',
  atMs: 0,
  instanceId: 'i',
  entryKey,
});
const paused = (entryKey: string): EntryPausedEvent => ({
  type: 'entry.paused',
  scope: 'replica',
  atMs: 0,
  instanceId: 'i',
  entryKey,
});

function streamOf() {
  const errors: unknown[] = [];
  const stream = new EventStream((error) => errors.push(error));
  return { stream, errors };
}

function thenable(error: Error): PromiseLike<never> {
  const rejected = Promise.reject<never>(error);
  rejected.catch(() => undefined);
  // biome-ignore lint/suspicious/noThenProperty: it is what makes it one
  return { then: (resolve, reject) => rejected.then(resolve, reject) };
}

/** Everything that a later turn of the event loop could still throw has been thrown after this. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('event stream', () => {
  describe('a subscriber that fails harms neither the others nor the one who emits', () => {
    const failing: [string, (stream: EventStream, error: Error) => unknown][] = [
      [
        'throws',
        ({ events$ }, error) =>
          events$.subscribe(() => {
            throw error;
          }),
      ],
      [
        'rejects',
        ({ events$ }, error) =>
          events$.subscribe(async () => {
            throw error;
          }),
      ],
      [
        'answers a promise of another make that rejects',
        ({ events$ }, error) => events$.subscribe(() => thenable(error)),
      ],
      [
        'throws in an observer',
        ({ events$ }, error) =>
          events$.subscribe({
            next: () => {
              throw error;
            },
          }),
      ],
      [
        'throws behind pipe',
        ({ events$ }, error) =>
          events$.pipe(map((e) => e.type)).subscribe(() => {
            throw error;
          }),
      ],
      [
        'throws behind two pipes',
        ({ events$ }, error) =>
          events$
            .pipe(ofEvent('entry.removed'))
            .pipe(tap(() => undefined))
            .subscribe(() => {
              throw error;
            }),
      ],
      [
        'throws behind share',
        ({ events$ }, error) =>
          events$.pipe(share()).subscribe(() => {
            throw error;
          }),
      ],
    ];

    it.each(failing)('when it %s, at every event', async (_, subscribe) => {
      const { stream, errors } = streamOf();
      const error = new Error('subscriber');
      const before = jest.fn();
      const after = jest.fn();
      stream.events$.subscribe(before);
      subscribe(stream, error);
      stream.events$.subscribe(after);
      for (const key of ['a', 'b']) expect(() => stream.emit(removed(key))).not.toThrow();
      await nextTurn();
      expect(before).toHaveBeenCalledTimes(2);
      expect(after).toHaveBeenCalledTimes(2);
      expect(errors).toEqual([error, error]);
    });

    it('when it is an RxJS subscriber of its own making, which RxJS lets throw through', () => {
      const { stream, errors } = streamOf();
      const error = new Error('subscriber');
      class Bad extends Subscriber<CronEvent> {
        override next(): void {
          throw error;
        }
      }
      stream.events$.subscribe(new Bad());
      for (const key of ['a', 'b']) expect(() => stream.emit(removed(key))).not.toThrow();
      expect(errors).toEqual([error, error]);
    });

    it('when an operator of its pipe throws: that subscription ends, with the error told once', async () => {
      const { stream, errors } = streamOf();
      const error = new Error('operator');
      const next = jest.fn();
      stream.events$
        .pipe(
          map(() => {
            throw error;
          }),
        )
        .subscribe(next);
      const other = jest.fn();
      stream.events$.subscribe(other);
      stream.emit(removed('a'));
      stream.emit(removed('b'));
      await nextTurn();
      expect(errors).toEqual([error]);
      expect(next).not.toHaveBeenCalled();
      expect(other).toHaveBeenCalledTimes(2);
    });

    it('when its own error handler throws as well', async () => {
      const { stream, errors } = streamOf();
      const second = new Error('second');
      const broken = map<CronEvent, never>(() => {
        throw new Error('first');
      });
      stream.events$.pipe(broken).subscribe({
        error: () => {
          throw second;
        },
      });
      stream.emit(removed('a'));
      await nextTurn();
      expect(errors).toEqual([second]);
    });

    it('when whoever is told of the errors throws as well', async () => {
      const stream = new EventStream(() => {
        throw new Error('the logger');
      });
      const other = jest.fn();
      stream.events$.subscribe(() => {
        throw new Error('subscriber');
      });
      stream.events$.subscribe(async () => {
        throw new Error('subscriber');
      });
      stream.events$.pipe(map(() => JSON.parse('{'))).subscribe();
      stream.events$.subscribe(other);
      expect(() => stream.emit(removed('a'))).not.toThrow();
      await nextTurn();
      expect(other).toHaveBeenCalledTimes(1);
    });

    it('when it is one bad among ten: nine see everything, in order', async () => {
      const { stream, errors } = streamOf();
      const seen = Array.from({ length: 10 }, () => [] as string[]);
      for (const [i, mine] of seen.entries()) {
        stream.events$.pipe(ofEvent('entry.removed')).subscribe(({ entryKey }) => {
          if (i === 4) throw new Error('bad');
          mine.push(entryKey);
        });
      }
      for (const key of ['a', 'b', 'c']) stream.emit(removed(key));
      expect(seen.filter((keys) => keys.join('') === 'abc')).toHaveLength(9);
      expect(errors).toHaveLength(3);
    });

    it('when it is slow: nobody waits for it', async () => {
      const { stream } = streamOf();
      stream.events$.subscribe(() => new Promise(() => undefined));
      const other = jest.fn();
      stream.events$.subscribe(other);
      stream.emit(removed('a'));
      expect(other).toHaveBeenCalledTimes(1);
    });
  });

  it('a subscriber that unsubscribes in its handler gets nothing more; the others go on', () => {
    const { stream } = streamOf();
    const seen: string[] = [];
    const subscription = stream.events$.subscribe(() => {
      seen.push('once');
      subscription.unsubscribe();
    });
    stream.events$.subscribe(() => seen.push('other'));
    stream.emit(removed('a'));
    stream.emit(removed('b'));
    expect(seen).toEqual(['once', 'other', 'other']);
  });

  it('a subscriber that causes an event in its handler does not let it overtake the one being told', () => {
    const { stream } = streamOf();
    stream.events$.pipe(ofEvent('entry.removed'), take(1)).subscribe(({ entryKey }) => {
      stream.emit(paused(entryKey));
      stream.complete();
    });
    const seen: string[] = [];
    stream.events$.subscribe({ next: ({ type }) => seen.push(type), complete: () => seen.push('complete') });
    stream.emit(removed('a'));
    stream.emit(removed('b'));
    expect(seen).toEqual(['entry.removed', 'entry.paused', 'complete']);
  });

  it('is hot: a subscriber sees what comes after it, and knows whether anybody listens', () => {
    const { stream } = streamOf();
    stream.emit(removed('before'));
    expect(stream.observed).toBe(false);
    const seen: CronEvent[] = [];
    const subscription = stream.events$.subscribe((event) => seen.push(event));
    expect(stream.observed).toBe(true);
    stream.emit(removed('after'));
    expect(seen).toEqual([removed('after')]);
    subscription.unsubscribe();
    expect(stream.observed).toBe(false);
  });

  it('ofEvent narrows to the one type, for the compiler too', async () => {
    const { stream } = streamOf();
    const keys = firstValueFrom(
      stream.events$.pipe(
        ofEvent('entry.removed'),
        // @ts-expect-error an entry's removal has no count
        tap((event) => void event.count),
        map((event): string => event.entryKey),
        toArray(),
      ),
    );
    stream.emit(paused('no'));
    stream.emit(removed('yes'));
    stream.complete();
    await expect(keys).resolves.toEqual(['yes']);
    // @ts-expect-error there is no such event
    ofEvent('entry.vanished');
  });

  it('completes both streams, and nothing comes after', () => {
    const { stream } = streamOf();
    const seen: string[] = [];
    stream.events$.subscribe({ next: ({ type }) => seen.push(type), complete: () => seen.push('events end') });
    stream.skipped$.subscribe({ complete: () => seen.push('skipped end') });
    stream.complete();
    stream.complete();
    stream.emit(removed('a'));
    stream.events$.subscribe({ complete: () => seen.push('late end') });
    expect(seen).toEqual(['events end', 'skipped end', 'late end']);
  });

  it('takes an observer, null, nothing, and a subject, as RxJS does', () => {
    const { stream, errors } = streamOf();
    const subject = new Subject<CronEvent>();
    const seen = jest.fn();
    subject.subscribe(seen);
    stream.events$.subscribe(subject);
    stream.events$.subscribe(null);
    stream.events$.subscribe();
    const observer = {
      seen: 0,
      next() {
        this.seen += 1;
      },
    };
    stream.events$.subscribe(observer);
    stream.emit(removed('a'));
    expect(seen).toHaveBeenCalledTimes(1);
    expect(observer.seen).toBe(1);
    expect(errors).toEqual([]);
  });

  it('100,000 subscriptions opened and closed leave nothing behind', () => {
    const { stream } = streamOf();
    for (let i = 0; i < 50_000; i++) {
      stream.events$
        .pipe(ofEvent('fire.failed'))
        .subscribe(() => undefined)
        .unsubscribe();
      stream.skipped$.subscribe(() => undefined).unsubscribe();
    }
    expect(stream.observed).toBe(false);
    const subscription = stream.events$.pipe(take(1)).subscribe();
    stream.emit(removed('a'));
    expect(subscription.closed).toBe(true);
    expect(stream.observed).toBe(false);
  });

  describe('skipped$', () => {
    const fire = { entryKey: 'a', fireKey: 'a@x', scheduledAt: new Date(0), origin: 'schedule' } as const;
    const base = { type: 'fire.skipped', atMs: 0, instanceId: 'i', fire } as const;
    const error = new Error('store');
    const flat = { entry: 'a', fireKey: 'a@x', scheduledAt: new Date(0) };

    it.each<[FireSkippedEvent, object]>([
      [
        { ...base, reason: 'not-leader' },
        { ...flat, reason: 'not-leader' },
      ],
      [
        { ...base, reason: 'already-claimed', superseded: true },
        { ...flat, reason: 'already-claimed', superseded: true },
      ],
      [
        { ...base, reason: 'election-error', error },
        { ...flat, reason: 'election-error', error },
      ],
      [
        { ...base, reason: 'claim-error', error: undefined },
        { ...flat, reason: 'claim-error', error: undefined },
      ],
    ])('is flat, and has an error for the two error reasons alone (case %#)', (event, expected) => {
      const { stream } = streamOf();
      const seen: object[] = [];
      stream.skipped$.subscribe((skipped) => seen.push(skipped));
      stream.emit(removed('a'));
      stream.emit(event);
      expect(seen).toStrictEqual([expected]);
      expect('error' in seen[0]!).toBe(event.reason.endsWith('error'));
    });
  });
});
