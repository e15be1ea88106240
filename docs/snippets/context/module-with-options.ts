import type { DynamicModule } from '@nestjs/common';
import type { DistributedCronModuleOptions } from 'nestjs-distributed-cron';

declare class AppModule {
  static with(options: DistributedCronModuleOptions): DynamicModule;
}
