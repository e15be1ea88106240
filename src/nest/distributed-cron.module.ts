import { ConfigurableModuleBuilder, type DynamicModule, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DistributedCronEvents } from './distributed-cron-events.js';
import { DistributedTasks } from './distributed-tasks.js';
import { startLastAndStopFirst } from './hook-order.js';
import { MODULE_MARK } from './importers.js';
import type { DistributedCronModuleOptions } from './options.js';
import { DistributedCronRegistry } from './registry.js';
import { SCHEDULER_PROVIDERS } from './scheduler-providers.js';
import { CLAIMER, CLOCK, DISTRIBUTED_CRON_OPTIONS, ELECTOR, SKIPPED_FIRES } from './tokens.js';

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<DistributedCronModuleOptions>({
  optionsInjectionToken: DISTRIBUTED_CRON_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createDistributedCronOptions')
  .setExtras({}, (definition) => ({ ...definition, global: true }))
  .build();

/**
 * Import it once, in the root module. Global: the registry, the events and the tokens can be injected anywhere. Starts after every other
 * provider's `onApplicationBootstrap`, drains before every other provider's `onModuleDestroy`.
 */
@Module({
  providers: SCHEDULER_PROVIDERS,
  exports: [DistributedCronRegistry, DistributedCronEvents, DistributedTasks, CLAIMER, ELECTOR, CLOCK, SKIPPED_FIRES],
})
export class DistributedCronModule extends ConfigurableModuleClass {
  static readonly [MODULE_MARK] = true;

  /** Options are optional: without any, each replica runs every fire, with a warning. */
  static override forRoot(options: DistributedCronModuleOptions = {}): DynamicModule {
    // biome-ignore lint/complexity/noThisInStatic: the class it is called on becomes the module
    return super.forRoot(options);
  }

  constructor(modules: ModulesContainer) {
    super();
    startLastAndStopFirst(modules.values(), DistributedCronModule);
  }
}
