import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { Homes } from '../coordination/homes.js';
import type { ApplicationLog } from './application-log.js';

/** What singleton tasks lack in this application. Said once, when there is one. */
export class SingletonWarnings {
  private said = false;

  constructor(
    private readonly log: ApplicationLog,
    private readonly enabled: boolean,
    private readonly backend: GuardedBackend | null,
    private readonly homes: Homes,
  ) {}

  singletonAdded(): void {
    if (this.said || !this.enabled) return;
    this.said = true;
    const leases = this.backend?.leases !== undefined;
    const others = this.homes.kind !== 'alone';
    if (leases && others) return;
    this.log.warn(lacking(leases, others));
  }
}

function lacking(leases: boolean, others: boolean): string {
  if (leases)
    return 'Nobody tells this replica of the others, so each is home to every singleton task: the lease alone decides who runs it. Give forRoot a membership.';
  const remedy = 'Give forRoot a backend that keeps leases.';
  return others
    ? `No store keeps leases: singleton tasks go by the ring alone, and while replicas see different members two can run one. ${remedy}`
    : `No store keeps leases and nobody tells this replica of the others: each replica runs every singleton task. ${remedy}`;
}
