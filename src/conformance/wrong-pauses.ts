import { type Entries, type Entry, emptyEntry } from './wrong-entries.js';

/** The ways to be wrong that run what is paused, lose what was before the pause, or catch up what was in it. */
export const PAUSE_FAULTS = [
  'pauses the replica alone',
  'pauses every entry of the namespace',
  'folds the case of the keys it pauses',
  'pauses the key in every namespace',
  'makes the claim that it answers paused',
  'raises the watermark while paused',
  'looks at the pause before the claims',
  'looks at the pause before the floor',
  'looks at the pause before the clock',
  'pauses anew each time',
  'leaves the watermark at resume',
  'lowers the watermark at resume',
  'raises the watermark that is to be kept',
  'forgets the schedule at resume',
  'makes history at resume',
  'makes history at pause',
  'raises the watermark of what was not paused',
  'tells when the pause ended',
  'takes the end of the pause for a floor',
  'makes the head anew at pause',
  'ends a pause at the retention',
  'takes the overlap lease while paused',
  'is true to a claim that is paused',
  'pauses a whole batch',
  'never resumes',
] as const;

export type PauseFault = (typeof PAUSE_FAULTS)[number];

/** The ways to be wrong that leave something of an entry that is forgotten, or take something from another. */
export const FORGET_FAULTS = [
  'forgets the head alone',
  'forgets the claims alone',
  'keeps the pause of what it forgets',
  'forgets every entry of the namespace',
  'forgets the key in every namespace',
  'fails where there is nothing to forget',
  'forgets the overlap lease',
  'leaves what it forgets to be taken over',
] as const;

export type ForgetFault = (typeof FORGET_FAULTS)[number];

export function pauseEntry(entry: Entry, nowMs: number, fault: PauseFault | undefined): void {
  if (fault === 'makes the head anew at pause') {
    entry.floorMs = -Infinity;
    entry.rows.clear();
  }
  if (fault === 'makes history at pause' && entry.watermarkMs === -Infinity) entry.watermarkMs = nowMs;
  if (entry.pausedMs === undefined || fault === 'pauses anew each time') entry.pausedMs = nowMs;
}

/** Whether a claim of this entry meets a pause. */
export function isPaused(
  entry: Entry,
  entries: Entries,
  nowMs: number,
  retentionMs: number,
  fault: PauseFault | undefined,
): boolean {
  const meets = (other: Entry) => {
    if (other.pausedMs === undefined) return false;
    if (fault === 'ends a pause at the retention' && other.pausedMs < nowMs - retentionMs) return false;
    if (other === entry) return true;
    const sameSpace = other.namespace === entry.namespace;
    if (fault === 'pauses every entry of the namespace') return sameSpace;
    if (fault === 'pauses the key in every namespace') return other.entryKey === entry.entryKey;
    if (fault === 'folds the case of the keys it pauses')
      return sameSpace && other.entryKey.toLowerCase() === entry.entryKey.toLowerCase();
    return false;
  };
  return [...entries.values()].some(meets);
}

export function resumeEntry(
  entry: Entry | undefined,
  keepWatermark: boolean,
  nowMs: number,
  fault: PauseFault | undefined,
): Date | null {
  if (entry === undefined) return null;
  const since = entry.pausedMs;
  const raise = () => {
    if (entry.watermarkMs === -Infinity && fault !== 'makes history at resume') return;
    entry.watermarkMs = fault === 'lowers the watermark at resume' ? nowMs : Math.max(entry.watermarkMs, nowMs);
  };
  if (since === undefined) {
    if (fault === 'raises the watermark of what was not paused') raise();
    return null;
  }
  if (fault !== 'never resumes') entry.pausedMs = undefined;
  const keeps = keepWatermark && fault !== 'raises the watermark that is to be kept';
  if (!keeps && fault !== 'leaves the watermark at resume') raise();
  if (fault === 'takes the end of the pause for a floor') entry.floorMs = nowMs;
  if (fault === 'forgets the schedule at resume') entry.schedule = '';
  return new Date(fault === 'tells when the pause ended' ? nowMs : since);
}

/** Answers what is left of the entry in the store, beside what `entries` still hold. */
export function forgetEntry(
  entries: Entries,
  name: string,
  asked: Pick<Entry, 'namespace' | 'entryKey'>,
  fault: ForgetFault | undefined,
): Entry[] {
  const entry = entries.get(name);
  if (entry === undefined) {
    if (fault === 'fails where there is nothing to forget') throw new Error('unknown entry');
    return [];
  }
  entries.delete(name);
  const left = emptyEntry(entry.namespace, entry.entryKey);
  if (fault === 'forgets the head alone') entries.set(name, { ...left, rows: entry.rows });
  if (fault === 'forgets the claims alone') entries.set(name, { ...entry, rows: new Map() });
  if (fault === 'keeps the pause of what it forgets') entries.set(name, { ...left, pausedMs: entry.pausedMs });
  for (const [other, { namespace, entryKey }] of entries) {
    const sameSpace = namespace === asked.namespace && other !== name;
    if (sameSpace && fault === 'forgets every entry of the namespace') entries.delete(other);
    if (entryKey === asked.entryKey && fault === 'forgets the key in every namespace') entries.delete(other);
  }
  return fault === 'leaves what it forgets to be taken over' ? [entry] : [];
}
