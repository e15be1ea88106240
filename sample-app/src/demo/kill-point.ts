import type { Invoices } from '../invoicing/invoices';
import type { FromReplica, StopInside } from './messages';

/** Nobody came to kill it: the launcher is gone. */
const LONGEST_STANDSTILL_MS = 10_000;

/** Lets the launcher have this replica where a crash hurts most: an invoice is written, and not committed. */
export function standStillWhenTold(invoices: Invoices): void {
  let toldFireKey: string | undefined;
  process.on('message', (message: StopInside) => {
    toldFireKey = message.fireKey;
  });
  const issue = invoices.issue.bind(invoices);
  invoices.issue = (order, fireKey) => {
    issue(order, fireKey);
    if (fireKey === toldFireKey) standStill({ type: 'inside-transaction', fireKey });
  };
}

/** The whole process stops: a transaction that yields to the event loop would let the replica's other work into it. */
function standStill(report: FromReplica): never {
  process.send?.(report);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONGEST_STANDSTILL_MS);
  process.exit(1);
}
