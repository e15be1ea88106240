import { jest } from '@jest/globals';
import type { DynamicModule, INestApplication, LoggerService, ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import {
  CLOCK,
  ConfigurationError,
  type CronEvent,
  type CronEventOf,
  type CronEventType,
  DistributedCronEvents,
  DistributedCronModule,
  type DistributedCronModuleOptions,
  DistributedCronRegistry,
} from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';

// No test here waits for real time: the limit only ends one that hangs, and must not end one on a machine under load.
jest.setTimeout(60_000);

export interface LogLine {
  readonly level: 'log' | 'warn' | 'error';
  readonly text: string;
}

/** The application's logger, with what this library said through it. */
export class Journal implements LoggerService {
  readonly lines: LogLine[] = [];

  log(message: unknown, ...rest: unknown[]): void {
    this.write('log', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  texts(level: LogLine['level']): string[] {
    return this.lines.filter((line) => line.level === level).map(({ text }) => text);
  }

  private write(level: LogLine['level'], message: unknown, rest: readonly unknown[]): void {
    if (rest.at(-1) === 'DistributedCron') this.lines.push({ level, text: String(message) });
  }
}

export interface Given extends Pick<ModuleMetadata, 'providers' | 'controllers' | 'imports'> {
  readonly options?: DistributedCronModuleOptions;
  /** In place of `forRoot(options)`. */
  readonly cron?: DynamicModule;
  readonly clock?: VirtualClock;
  readonly logger?: LoggerService;
  readonly override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
}

/** An application that is put together and has not been initialised. */
export async function compiled(given: Given = {}) {
  const clock = given.clock ?? new VirtualClock();
  const journal = new Journal();
  const { providers = [], controllers = [], imports = [], override = (builder) => builder } = given;
  const cron = given.cron ?? DistributedCronModule.forRoot(given.options);
  const testing: TestingModule = await override(
    Test.createTestingModule({ imports: [cron, ...imports], providers, controllers })
      .setLogger(given.logger ?? journal)
      .overrideProvider(CLOCK)
      .useValue(clock),
  ).compile();
  return { clock, journal, testing };
}

/** An application that runs, and what it told. */
export async function started(given: Given = {}) {
  const { clock, journal, testing } = await compiled(given);
  const events: CronEvent[] = [];
  testing.get(DistributedCronEvents).events$.subscribe((event) => void events.push(event));
  const app: TestingModule | INestApplication = await testing.init();
  return {
    app,
    clock,
    journal,
    events,
    ofType: <T extends CronEventType>(type: T) =>
      events.filter((event): event is CronEventOf<T> => event.type === type),
    registry: app.get(DistributedCronRegistry),
    keys: () =>
      app
        .get(DistributedCronRegistry)
        .list()
        .map(({ key }) => key)
        .sort(),
    /** What was told of fires, in order: the type without its prefix, and the reason where there is one. */
    story: () => events.filter(({ type }) => type.startsWith('fire.')).map(chapter),
  };
}

function chapter(event: CronEvent): string {
  const type = event.type.replace('fire.', '');
  return 'reason' in event ? `${type} ${event.reason}` : type;
}

/** The error of an application that must not start for its configuration. */
export async function refused(given: Given): Promise<ConfigurationError> {
  const { testing } = await compiled(given);
  const error = await testing.init().then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof ConfigurationError) return error;
  throw new Error('The application started, or failed otherwise.', { cause: error });
}
