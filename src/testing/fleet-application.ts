import {
  type INestApplicationContext,
  type LoggerService,
  type LogLevel,
  Module,
  type ModuleMetadata,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Clock } from '../ambient/clock.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import { DistributedCronModule } from '../nest/distributed-cron.module.js';
import { DistributedCronEvents } from '../nest/distributed-cron-events.js';
import type { DistributedCronModuleOptions } from '../nest/options.js';
import { CLOCK } from '../nest/tokens.js';
import { withClock } from './with-clock.js';

/** What one replica of a fleet is built with. */
export interface FleetMember {
  /** From 0. */
  readonly index: number;
  /** `replica-0`, `replica-1`, …: its name among the members. */
  readonly memberName: string;
  /** The fleet's store, as this replica reaches it. */
  readonly backend: CoordinationBackend;
  /** The fleet's clock, as this replica sees it. */
  readonly clock: Clock;
}

/** What a replica consists of, beside `DistributedCronModule.forRoot(options)`, which the fleet imports itself. */
export interface FleetApplication extends Pick<ModuleMetadata, 'imports' | 'providers' | 'controllers'> {
  /** Over the fleet's own: `backend`, unless a claimer is named, and `memberName`. */
  readonly options?: DistributedCronModuleOptions;
}

/** Builds one replica: what it consists of, or an application on `member.clock` that is not initialised yet. */
export type BuildReplica = (
  member: FleetMember,
) => FleetApplication | INestApplicationContext | Promise<FleetApplication | INestApplicationContext>;

export type FleetLogger = LoggerService | LogLevel[] | false;

@Module({})
class FleetReplicaModule {}

/** A started application; whoever listens is given its events before it starts. */
export async function startApplication(
  build: BuildReplica,
  member: FleetMember,
  logger: FleetLogger,
  listen: (events: DistributedCronEvents) => void,
): Promise<INestApplicationContext> {
  const built = await build(member);
  if (!isApplication(built)) return startParts(built, member, logger, listen);
  if (built.get(CLOCK, { strict: false }) !== member.clock) {
    await built.close();
    throw new Error(
      `fleet: the application of ${member.memberName} waits by another clock than the fleet's. Build it with .overrideProvider(CLOCK).useValue(clock).`,
    );
  }
  listen(built.get(DistributedCronEvents, { strict: false }));
  return built.init();
}

function startParts(
  { options, imports = [], providers = [], controllers = [] }: FleetApplication,
  { backend, memberName, clock }: FleetMember,
  logger: FleetLogger,
  listen: (events: DistributedCronEvents) => void,
): Promise<INestApplicationContext> {
  const coordination = options?.claimer === undefined ? { backend } : {};
  const cron = DistributedCronModule.forRoot({ ...coordination, memberName, ...options });
  const listener = { provide: listen, useFactory: listen, inject: [DistributedCronEvents] };
  const root = {
    module: FleetReplicaModule,
    imports: [withClock(cron, clock), ...imports],
    providers: [listener, ...providers],
    controllers,
  };
  // Otherwise Nest ends the process, and with it the test, when a replica does not start.
  return NestFactory.createApplicationContext(root, { logger, abortOnError: false });
}

function isApplication(built: FleetApplication | INestApplicationContext): built is INestApplicationContext {
  return 'init' in built && typeof built.init === 'function';
}
