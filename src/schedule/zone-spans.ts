import { ANSWERS_UNTIL_S, DAY_S } from './calendar.js';
import { TimeZoneError } from './schedule-error.js';

/**
 * A zone as spans of constant offset, in seconds. Offsets and transitions are found from `Intl`, once per zone and process, and only for
 * the years that were asked about; every entry of the zone shares them.
 *
 * Span i is [starts[i], starts[i + 1]) and its wall clock is the instant plus offsets[i]. `reached[i]` is how far the wall clock had come
 * when span i began: the first wall clock second that no earlier span had shown. Where a span begins behind `reached`, its wall clock
 * repeats seconds; where it begins ahead, the seconds between are the gap. Without `reached`, first passes, repeats and gaps would have to be
 * told apart anew for each question.
 *
 * Two facts about zones are relied on, and checked for all of them by a test: a span is longer than the changes at its ends, and is not
 * shorter than the probe step.
 */
export class ZoneSpans {
  readonly starts: number[] = [];
  readonly offsets: number[] = [];
  readonly reached: number[] = [];

  // What the spans cover. Questions are answered within a margin of both ends only, so an end is never taken for a transition.
  #fromS: number;
  #untilS: number;
  #lastAsked = 0;

  constructor(
    /** The name as it was given, in the spelling of the zone data. */
    readonly timeZone: string,
    /** One offset for ever: nothing to be found. */
    readonly fixed: boolean,
  ) {
    this.#fromS = 0;
    this.#untilS = 0;
  }

  /** The span that holds an instant. The index is good until an instant before the covered years is asked for. */
  indexAt(instantS: number): number {
    this.cover(instantS);
    const last = this.#lastAsked;
    if (this.starts[last]! <= instantS && !(this.starts[last + 1]! <= instantS)) return last;
    this.#lastAsked = lastAtOrBelow(this.starts, instantS);
    return this.#lastAsked;
  }

  /**
   * The first span that reaches a wall clock second or passes it: the second is in that span, or in the gap before it.
   * The index is good until an instant before the covered years is asked for.
   */
  indexOfWallClock(wallS: number): number {
    this.cover(wallS);
    return lastAtOrBelow(this.reached, wallS);
  }

  /** The first wall clock second that the span does not show; for the last span, the first that is not known. */
  wallClockEnd(index: number): number {
    return (this.starts[index + 1] ?? this.#untilS) + this.offsets[index]!;
  }

  wallClockStart(index: number): number {
    return this.starts[index]! + this.offsets[index]!;
  }

  /** Makes the spans known around an instant or a wall clock second. */
  cover(aroundS: number): void {
    if (aroundS >= this.#fromS + MARGIN_S && aroundS < this.#untilS - MARGIN_S) return;
    this.#extend(aroundS);
  }

  #extend(aroundS: number): void {
    const wantedFromS = EARLIEST_S + Math.floor((aroundS - MARGIN_S - EARLIEST_S) / STRETCH_S) * STRETCH_S;
    const wantedUntilS = EARLIEST_S + Math.ceil((aroundS + MARGIN_S + 1 - EARLIEST_S) / STRETCH_S) * STRETCH_S;
    if (this.#untilS === this.#fromS) {
      this.#fromS = this.#untilS = wantedFromS;
    }
    const offsetAt = this.fixed ? () => 0 : offsetReader(this.timeZone);
    const found: Transition[] = this.starts.map((startS, index) => ({ startS, offsetS: this.offsets[index]! }));
    if (wantedFromS < this.#fromS) {
      found.unshift(...transitions(offsetAt, wantedFromS, this.#fromS));
      this.#fromS = wantedFromS;
    }
    if (wantedUntilS > this.#untilS) {
      found.push(...transitions(offsetAt, this.#untilS, wantedUntilS));
      this.#untilS = wantedUntilS;
    }
    this.starts.length = this.offsets.length = this.reached.length = 0;
    this.#lastAsked = 0;
    let reachedS = -Infinity;
    for (const { startS, offsetS } of found) {
      const last = this.offsets.length - 1;
      if (last >= 0) {
        if (this.offsets[last] === offsetS) continue;
        reachedS = Math.max(reachedS, startS + this.offsets[last]!);
      }
      this.starts.push(startS);
      this.offsets.push(offsetS);
      this.reached.push(reachedS);
    }
  }
}

/** The index of the largest value at or below `limit`, in ascending values of which the first is. */
function lastAtOrBelow(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle]! <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The spans of a zone. Throws TimeZoneError for a name that this process does not know. */
export function zoneSpans(timeZone: string): ZoneSpans {
  let spans = spansByName.get(timeZone);
  if (spans === undefined) {
    const name = zoneName(timeZone);
    spans = spansByName.get(name) ?? new ZoneSpans(name, name === 'UTC');
    spansByName.set(name, spans);
  }
  return spans;
}

const spansByName = new Map<string, ZoneSpans>();

/**
 * The name in the spelling of the zone data; `UTC` for all its names. A link keeps the name that was written: which of two linked
 * names `Intl` prefers differs between versions of Node, and the name is part of a schedule's fingerprint.
 */
function zoneName(timeZone: unknown): string {
  if (typeof timeZone !== 'string' || timeZone === '') {
    throw new TimeZoneError(timeZone, 'Is the variable that it comes from set? Leave it out for UTC.');
  }
  if (/^[+-]/.test(timeZone)) {
    // Some versions of Node read offsets and others do not; an application must not start on one replica and fail on another.
    throw new TimeZoneError(
      timeZone,
      'A fixed offset is no zone. Use a name such as "Europe/Berlin", or "Etc/GMT-5" for five hours ahead of UTC.',
    );
  }
  let resolved: string;
  try {
    resolved = new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone;
  } catch (cause) {
    throw new TimeZoneError(timeZone, undefined, { cause });
  }
  if (/^(?:UTC|GMT|Etc\/(?:UTC|GMT|UCT|Zulu))$/.test(resolved)) return 'UTC';
  return resolved.toLowerCase() === timeZone.toLowerCase() ? resolved : timeZone;
}

interface Transition {
  readonly startS: number;
  readonly offsetS: number;
}

const EARLIEST_S = Date.UTC(1968, 0, 1) / 1000;
/** What is found at a time: four years. An application of today asks for one or two such stretches of a zone. */
const STRETCH_S = 1461 * DAY_S;
/** Longer than any change of offset, so that what lies at the end of the known spans is never looked at. */
const MARGIN_S = 30 * DAY_S;
/** Half of the shortest span since 1970: Brazil's summer time of 2000 lasted a week in some of its states. */
const STEP_S = 3 * DAY_S;
/** No answer lies later, and `Intl` is not asked beyond. */
const LATEST_S = ANSWERS_UNTIL_S + 2 * STRETCH_S;

/** The offset at the start, and each change up to the end. */
function transitions(offsetAt: (instantS: number) => number, fromS: number, untilS: number): Transition[] {
  let offsetS = offsetAt(fromS);
  const found: Transition[] = [{ startS: fromS, offsetS }];
  // Both halves are searched, so that two changes within a step are found as well.
  const search = (lowS: number, lowOffsetS: number, highS: number, highOffsetS: number): void => {
    if (lowOffsetS === highOffsetS) return;
    if (highS - lowS === 1) {
      found.push({ startS: highS, offsetS: highOffsetS });
      return;
    }
    const middleS = Math.floor((lowS + highS) / 2);
    const middleOffsetS = offsetAt(middleS);
    search(lowS, lowOffsetS, middleS, middleOffsetS);
    search(middleS, middleOffsetS, highS, highOffsetS);
  };
  for (let lowS = fromS; lowS < untilS; lowS += STEP_S) {
    const highS = Math.min(lowS + STEP_S, untilS);
    const highOffsetS = offsetAt(Math.min(highS, LATEST_S));
    search(lowS, offsetS, highS, highOffsetS);
    offsetS = highOffsetS;
  }
  return found;
}

/** Reads a zone's offset at an instant, both in seconds. The formatter is large, so it lives only as long as the search. */
function offsetReader(timeZone: string): (instantS: number) => number {
  // The weekday only replaces the date, which costs as much as the offset to write.
  const formatter = new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'narrow', timeZoneName: 'longOffset' });
  return (instantS) => {
    const text = formatter.format(instantS * 1000);
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
    if (match === null) throw new TimeZoneError(timeZone, `Its offset could not be read from "${text}".`);
    if (match[1] === undefined) return 0;
    const sizeS = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
    return match[1] === '-' ? -sizeS : sizeS;
  };
}
