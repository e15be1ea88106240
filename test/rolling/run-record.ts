import type { RunRecord } from '../processes/records.js';

/** A run has two lines: its first act and its last. */
export interface PhasedRun extends RunRecord {
  readonly phase: 'began' | 'ended';
}
