import { hostname } from 'node:os';
import type { Random } from './random.js';

/**
 * Who a scheduler is. The id alone identifies it: two schedulers in one process are two instances, and two processes with the
 * same host name and pid are two. Host name and pid are labels for people.
 */
export interface InstanceIdentity {
  readonly id: string;
  readonly hostname: string;
  readonly pid: number;
}

export function instanceIdentity(random: Random): InstanceIdentity {
  return { id: random.uuid(), hostname: hostname(), pid: process.pid };
}
