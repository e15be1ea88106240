import { Inject } from '@nestjs/common';

// Registered symbols, so that two copies of the library (CommonJS and ES modules) in one process mean the same provider.
const token = (name: string): symbol => Symbol.for(`nestjs-distributed-cron:${name}`);

/** The application's options as given to `forRoot`. */
export const DISTRIBUTED_CRON_OPTIONS = token('options');
/** The claimer that every fire asks; `null`: none, each replica runs every fire. */
export const CLAIMER = token('claimer');
/** The elector that every fire asks; `null`: none, every replica goes on to the claim. */
export const ELECTOR = token('elector');
/** The clock that everything waits by. A test overrides it with a `VirtualClock`. */
export const CLOCK = token('clock');
/** The fires that coordination suppressed on this replica, an Observable of `SkippedFireEvent`. */
export const SKIPPED_FIRES = token('skipped-fires');

/** Shorthand for `@Inject(CLAIMER)`. */
export const InjectClaimer = (): PropertyDecorator & ParameterDecorator => Inject(CLAIMER);
/** Shorthand for `@Inject(ELECTOR)`. */
export const InjectElector = (): PropertyDecorator & ParameterDecorator => Inject(ELECTOR);
/** Shorthand for `@Inject(CLOCK)`. */
export const InjectClock = (): PropertyDecorator & ParameterDecorator => Inject(CLOCK);
/** Shorthand for `@Inject(SKIPPED_FIRES)`. */
export const InjectSkippedFires = (): PropertyDecorator & ParameterDecorator => Inject(SKIPPED_FIRES);
