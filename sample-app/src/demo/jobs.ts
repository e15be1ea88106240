import { between, cronSchedule, type Schedule } from 'nestjs-distributed-cron';

export interface ExpectedFire {
  readonly fireKey: string;
  readonly entryKey: string;
  readonly instantMs: number;
}

/** Written again, and not imported from the jobs: what should fire must not depend on what does. */
export const JOBS: Readonly<Record<string, Schedule>> = {
  'invoice-run': cronSchedule('*/2 * * * * *'),
  'stock-count': cronSchedule('1-59/2 * * * * *'),
  'daily-report': cronSchedule('0 9 * * MON-FRI', { timeZone: 'Europe/Berlin' }),
};

/** All fires whose instant lies after `fromMs` and not after `untilMs`. */
export function expectedFires(fromMs: number, untilMs: number): ExpectedFire[] {
  return Object.entries(JOBS)
    .flatMap(([entryKey, schedule]) =>
      between(schedule, fromMs + 1, untilMs + 1).map((instant) => fireOf(entryKey, instant.getTime())),
    )
    .sort((a, b) => a.instantMs - b.instantMs);
}

/** The first invoice run after `afterMs`. */
export function nextInvoiceRun(afterMs: number): ExpectedFire {
  return fireOf('invoice-run', JOBS['invoice-run']!.next(afterMs)!);
}

function fireOf(entryKey: string, instantMs: number): ExpectedFire {
  return { entryKey, instantMs, fireKey: `${entryKey}@${new Date(instantMs).toISOString().replace('.000Z', 'Z')}` };
}
