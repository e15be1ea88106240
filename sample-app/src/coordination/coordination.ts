import type { OnModuleDestroy } from '@nestjs/common';
import type { DistributedCronModuleOptions } from 'nestjs-distributed-cron';

/** What the replicas share to agree on who runs a fire, and the shop's own client to it. */
export class Coordination implements OnModuleDestroy {
  constructor(
    readonly options: Pick<DistributedCronModuleOptions, 'backend'>,
    private readonly endClient: () => Promise<unknown> = async () => undefined,
  ) {}

  /** A backend leaves the client to whom it belongs. The scheduler has drained before any provider is destroyed. */
  async onModuleDestroy(): Promise<void> {
    await this.endClient();
  }
}
